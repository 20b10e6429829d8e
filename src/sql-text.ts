// Names and text as SQL: the only two ways in which a statement includes them.

/** A name of a column or table as an identifier. */
export const quoteName = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** Text as a literal. */
export const quoteText = (text: string): string => `'${text.replaceAll("'", "''")}'`;
