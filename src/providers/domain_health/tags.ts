/** The `tag=value` pairs of a record of DKIM or DMARC (RFC 6376 §3.2), and the names that stand there twice. */
export type Tags = { values: Map<string, string>; repeated: string[] };

/** Reads the pairs of a record. What is no pair is left out. */
export const readTags = (record: string): Tags => {
  const values = new Map<string, string>();
  const repeated: string[] = [];
  for (const pair of record.split(';')) {
    const at = pair.indexOf('=');
    if (at < 0) continue;
    const name = pair.slice(0, at).trim().toLowerCase();
    if (values.has(name)) repeated.push(name);
    else values.set(name, pair.slice(at + 1).trim());
  }
  return { values, repeated };
};
