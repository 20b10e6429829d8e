// The checksum of joined bytes from the checksums of their parts, after zlib's method: appending zeros is linear.

/** The polynomial of CRC-32, reflected. */
const POLYNOMIAL = 0xedb88320;

/** Row i is what bit i of a checksum turns into when one zero bit is appended. */
const ONE_BIT: readonly number[] = [POLYNOMIAL, ...Array.from({ length: 31 }, (_, i) => 1 << i)];

/** The CRC-32 of a part followed by another, which is `bytes` long. */
export function joinedCrc(first: number, second: number, bytes: number): number {
  let crc = first;
  let zeros = square(square(square(ONE_BIT))); // eight bits: one byte
  for (let left = bytes; left > 0; left = Math.floor(left / 2), zeros = square(zeros)) {
    if (left % 2 === 1) crc = times(zeros, crc);
  }
  return (crc ^ second) >>> 0;
}

function times(matrix: readonly number[], vector: number): number {
  let sum = 0;
  for (let bit = 0; bit < 32; bit++) if ((vector >>> bit) & 1) sum ^= matrix[bit]!;
  return sum;
}

const square = (matrix: readonly number[]): readonly number[] => matrix.map((row) => times(matrix, row));
