import type { Profile } from '../api.ts';

/** What a person is called here: what the customer calls them, else what is known. */
export const nameOf = ({ external_id, email, identifiers, id }: Profile): string =>
  external_id ?? email ?? identifiers[0]?.value ?? id;
