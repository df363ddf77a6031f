import type { Identity } from '../identity/identity.ts';
import type { IdentifierPair } from '../ingest/ingest.ts';

/** An external or anonymous id that a request names. */
export type Identifier = Pick<Identity, 'kind' | 'value'>;

/** The kind and the value of an identifier as one text, to keep it in a set. */
export type Name = `${Identity['kind']} ${string}`;

export const externalName = (value: string): Name => `external ${value}`;
export const anonymousName = (value: string): Name => `anonymous ${value}`;
export const nameOf = ({ kind, value }: Identifier): Name => `${kind} ${value}`;

/** Returns the identifier of a name. */
export const toIdentifier = (name: Name): Identifier => {
  const at = name.indexOf(' ');
  return { kind: name.slice(0, at) as Identity['kind'], value: name.slice(at + 1) };
};

/** Returns all names in some pairs, each once. */
export const namesIn = (pairs: readonly IdentifierPair[]): Set<Name> => {
  const names = new Set<Name>();
  for (const { externalId, anonymousId } of pairs) {
    if (externalId !== null) names.add(externalName(externalId));
    if (anonymousId !== null) names.add(anonymousName(anonymousId));
  }
  return names;
};
