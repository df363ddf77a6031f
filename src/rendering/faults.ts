import { toStorable } from '../base/text.ts';

const REASON_CHARS_MAX = 1_000;

/** What liquidjs calls an error, as far as it is read here: it exports no types for most of it. */
type LiquidFault = Error & {
  token?: { getPosition?: () => [number, number] };
  originalError?: { variableName?: string };
};

/** liquidjs ends its messages with the place. Here it is said first, and in words. */
const PLACE = /, (?:file:[^,]*, )?line:\d+, col:\d+$/;

const ADVICE: readonly [RegExp, string][] = [
  [
    /^undefined variable/,
    'correct its name, give it a default ({{ … | default: "…" }}), or ask for it with {% if … %}',
  ],
  [/^undefined filter/, 'correct its name: there is no such filter'],
  [/^output .* not closed/s, 'close it with }}'],
  [/^tag .* not closed/s, 'close it: each {% if %}, {% for %} and {% capture %} needs its end tag'],
  [/^tag ".*" not found/s, 'correct its name: there is no such tag'],
  [/limit exceeded/, 'make it do less: fewer or shorter loops, and less output'],
  [
    /^Maximum call stack/,
    'nest it less deep; where the HTML has to be as it is, give the template a text of its own',
  ],
  [/^ENOENT|Failed to lookup/, 'put the text in its place: nothing is included from elsewhere'],
];

const placeOf = (error: LiquidFault): string => {
  const [line, column] = error.token?.getPosition?.() ?? [];
  return line === undefined ? '' : `line ${line}, column ${column}: `;
};

/** A reason for people: where, what, and what to do about it; no longer than anybody reads. */
export const toReason = (error: unknown): string => {
  if (!(error instanceof Error)) return toStorable(String(error)).slice(0, REASON_CHARS_MAX);
  const says = error.message.replace(PLACE, '');
  const place = placeOf(error);
  const known = ADVICE.find(([pattern]) => pattern.test(says))?.[1];
  const advice = known ?? (place === '' ? undefined : 'correct it there');
  const whole = `${place}${says}${advice ? `. Please ${advice}.` : ''}`;
  return toStorable(whole).slice(0, REASON_CHARS_MAX);
};

/** The variable that was asked for and is not there, as it is written; null for any other error. */
export const missingVariable = (error: unknown): string | null =>
  error instanceof Error && error.name === 'UndefinedVariableError'
    ? ((error as LiquidFault).originalError?.variableName ?? null)
    : null;
