import type { IdentityLink } from '../link_queries.ts';

type Shown = { word: string; color: string };

/** Every state of a link in words; the colour only repeats what the word says. */
export const linkStates: Record<IdentityLink['status'], Shown> = {
  active: { word: 'Linked', color: 'green' },
  undone: { word: 'Undone', color: 'gray' },
  refused: { word: 'Refused', color: 'orange' },
};

/** Who asked for a link, in words. */
export const linkSources: Record<IdentityLink['source'], string> = {
  identify: 'identify',
  alias: 'alias',
  console: 'the Console',
};

export const LINK_STATUSES = Object.keys(linkStates) as IdentityLink['status'][];
export const LINK_SOURCES = Object.keys(linkSources) as IdentityLink['source'][];

const keyTypes: Record<IdentityLink['key_type'], string> = {
  publishable: 'a page, with a publishable key',
  server: 'a server key',
  session: 'a member in the Console',
};
export const askedBy = ({ key_type }: Pick<IdentityLink, 'key_type'>): string => keyTypes[key_type];

export const refusals: Record<NonNullable<IdentityLink['reason']>, string> = {
  linked_to_another:
    'The anonymous id belonged to another person already, as on a device that people share. ' +
    'Have your page call reset() when a person signs out.',
  undone_before:
    'This link was undone before. Only a server may make it again, by alias or identify.',
  too_many_links_today:
    'Browsers reached the limit of anonymous ids that they may link to this person within 24 hours. ' +
    'A server may still link this one, by alias or identify.',
  too_many_links:
    'Browsers reached the limit of anonymous ids that they may link to this person. ' +
    'A server may still link this one, by alias or identify.',
};

/** What undid a link, in words. */
export const undoneBy = (by: string): string =>
  ({
    console: 'in the Console',
    server_key: 'through the API',
    ledger: 'by the replay of erasures',
    server_link: 'because a server linked the anonymous id to another person',
  })[by] ?? by;
