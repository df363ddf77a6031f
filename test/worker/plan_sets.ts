// Ids and sets of rows of a busy installation.
/** Projects, each with so many providers, each of those with so many sends: 300,000 over 100 providers. */
export const PROJECTS = 5;
export const PROVIDERS = 20;

export const of = (project: string, n: string): string =>
  `('00000000-0000-7000-8000-' || lpad((${project})::text, 4, '0') || lpad((${n})::text, 8, '0'))::uuid`;
/** Ids of work that was made two years and more ago, in the order of time. */
export const oldOf = (project: string, n: string): string =>
  `('017e0000-0000-7000-8000-' || lpad((${project})::text, 4, '0') || lpad((${n})::text, 8, '0'))::uuid`;
export const keyOf = (n: string): string => `decode(lpad(to_hex(${n}), 64, '0'), 'hex')`;

export const projects = `generate_series(1, ${PROJECTS}) as p`;
export const project = of('p', '0');
export const provider = of('p', '100 + s % 20');
export const insert = (into: string, columns: string, values: string, count: number): string =>
  `insert into ${into} (${columns}) select ${values} from ${projects}, generate_series(1, ${count}) as s`;
