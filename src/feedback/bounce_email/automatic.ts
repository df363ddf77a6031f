import { headerOf } from './parts.ts';
import type { Parts } from './parts.ts';

/** Headers that only automatic replies have. */
const HEADERS = ['x-autoreply', 'x-autorespond', 'x-autoresponder', 'x-auto-reply', 'x-vacation'];
const SUBJECT = new RegExp(
  [
    '^(?:re: ?)?(?:out of (?:the )?office|auto(?:matic)?[ -]?(?:reply|response|antwort)|autoreply)\\b',
    '^(?:re: ?)?(?:abwesenheit|automatische antwort|r.ponse automatique|absence du bureau)',
    '^(?:re: ?)?(?:respuesta autom.tica|fuera de la oficina|risposta automatica|fuori sede)',
    '^(?:re: ?)?(?:resposta autom.tica|automatisch antwoord|automatiskt svar|autosvar)',
    '^(?:re: ?)?(?:please )?(?:confirm|verify) your (?:message|e-?mail|delivery)\\b',
  ].join('|'),
  'i',
);

/**
 * Whether an email is an automatic reply (RFC 3834), a read receipt (RFC 8098) or a challenge. Servers mark bounces in
 * the same way, so ask this of an email that is no report.
 */
export const isAutomatic = (email: Parts): boolean => {
  const submitted = headerOf(email, 'auto-submitted').trim().toLowerCase();
  if (submitted !== '' && !submitted.startsWith('no')) return true;
  if (HEADERS.some((name) => email.headers.has(name))) return true;
  if (/auto[_-]?reply/i.test(headerOf(email, 'precedence'))) return true;
  if (/disposition-notification/i.test(headerOf(email, 'content-type'))) return true;
  return SUBJECT.test(headerOf(email, 'subject').trim());
};
