import type { Rule } from '../rules/rule.ts';
import { AMERICAN_RULES } from './american.ts';
import { ASIAN_RULES } from './asian.ts';
import { EUROPEAN_RULES } from './european.ts';
import { FILTER_RULES } from './filters.ts';
import { GMAIL_RULES } from './gmail.ts';
import { MICROSOFT_RULES } from './microsoft.ts';
import { RELAY_HOST_RULES } from './relays.ts';
import { SOFTWARE_RULES } from './software.ts';
import { YAHOO_RULES } from './yahoo.ts';

/** What single hosts say in codes of their own. Read before the words. */
export const HOST_RULES: readonly Rule[] = [
  ...RELAY_HOST_RULES,
  ...GMAIL_RULES,
  ...MICROSOFT_RULES,
  ...YAHOO_RULES,
  ...AMERICAN_RULES,
  ...EUROPEAN_RULES,
  ...ASIAN_RULES,
  ...SOFTWARE_RULES,
  ...FILTER_RULES,
];
