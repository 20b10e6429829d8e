// Constants shared by both sides of the kernel. Valid TypeScript and valid AssemblyScript.

/** Kinds of column. `TEXT` becomes one of the four below it once the bytes of a window were examined. */
export const END = 0;
export const DOUBLE = 1;
export const DATE = 2;
export const INTEGER = 3;
export const TEXT = 4;
export const TEXT_AS_IS = 5;
export const TEXT_JSON = 6;
export const TEXT_CSV = 7;

/** A column is eight 32-bit words at these byte offsets; pointers are absolute. */
export const KIND = 0;
/** Bitmap, least significant bit first; 0 if no value is missing. */
export const VALIDITY = 4;
/** The bit of the bitmap that belongs to row 0. */
export const FIRST_BIT = 8;
export const VALUES = 12;
/** Text only: n + 1 offsets of 32 bits, relative to VALUES. */
export const OFFSETS = 16;
/** Bytes before each value. */
export const PREFIX = 20;
export const PREFIX_LENGTH = 24;
export const COLUMN_SIZE = 32;

/** The powers of ten 10^-292 to 10^324, each as 128 bits, high word first. */
export const MIN_POWER = -292;
export const MAX_POWER = 324;

/** Reads and writes may go this far past the bytes that count. */
export const SLACK = 64;
