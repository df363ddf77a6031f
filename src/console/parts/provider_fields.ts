import type { Provider } from '../api.ts';

export type Kind = Provider['provider'];

/** The kinds of provider in words. */
export const kinds: Record<Kind, { word: string; about: string }> = {
  smtp: { word: 'SMTP', about: 'Any relay that takes email by SMTP.' },
  relay_api: { word: 'SMTP2GO', about: 'Its HTTPS API, by a key that may send.' },
  cloud_api: { word: 'Amazon SES', about: 'Its signed API, in one region.' },
};

export type Field = {
  name: string;
  label: string;
  about?: string;
  placeholder?: string;
  type?: 'text' | 'password' | 'number' | 'secure';
  isOptional?: boolean;
  /** Half of a login: both halves are there, or none. */
  isLogin?: boolean;
};

export const commonFields: Field[] = [
  { name: 'display_name', label: 'Name', about: 'What it is called in this list.' },
  {
    name: 'from_email',
    label: 'From address',
    about: 'Under a domain that is verified at the provider. One record per address.',
    placeholder: 'hello@example.com',
  },
  { name: 'from_name', label: 'From name', placeholder: 'Acme', isOptional: true },
  { name: 'reply_to', label: 'Reply-To', placeholder: 'help@example.com', isOptional: true },
];

/** The fields of each kind besides the common ones; all of them are needed, but for a login. */
export const kindFields: Record<Kind, Field[]> = {
  smtp: [
    { name: 'smtp_host', label: 'Host', placeholder: 'smtp.example.com' },
    { name: 'smtp_port', label: 'Port', about: 'Often 587, 465, 2525 or 25.', type: 'number' },
    { name: 'smtp_secure', label: 'Encryption', type: 'secure' },
    {
      name: 'username',
      label: 'User name',
      about: 'Leave it empty only if the relay needs no login and is in EGRESS_ALLOW_NETWORKS.',
      isLogin: true,
    },
    {
      name: 'password',
      label: 'Password',
      about: 'Kept sealed, never shown.',
      type: 'password',
      isLogin: true,
    },
  ],
  relay_api: [
    {
      name: 'api_key',
      label: 'API key',
      about: 'It begins with “api-”, and needs no right but to send. Kept sealed, never shown.',
      type: 'password',
    },
  ],
  cloud_api: [
    {
      name: 'region',
      label: 'Region',
      about: 'Where the sender is verified.',
      placeholder: 'eu-west-1',
    },
    { name: 'access_key_id', label: 'Access key id', about: 'Of an identity that may only send.' },
    {
      name: 'secret_access_key',
      label: 'Secret access key',
      about: 'Kept sealed, never shown.',
      type: 'password',
    },
  ],
};

export const SECURE = [
  { value: 'starttls', label: 'STARTTLS (usual for port 587)' },
  { value: 'ssl', label: 'TLS from the first byte (port 465)' },
  { value: 'none', label: 'None: in-house relays only' },
];

/** Which field somebody looks at first when the provider refuses. */
const suspects: Record<string, Partial<Record<Kind, string>>> = {
  connection_failed: { smtp: 'smtp_host' },
  starttls_not_offered: { smtp: 'smtp_secure' },
  tls_required: { smtp: 'smtp_secure' },
  auth_not_offered: { smtp: 'smtp_port' },
  login_required: { smtp: 'username' },
  certificate_invalid: { smtp: 'smtp_host' },
  authentication_failed: {
    smtp: 'password',
    relay_api: 'api_key',
    cloud_api: 'secret_access_key',
  },
  invalid_key: { smtp: 'password', relay_api: 'api_key', cloud_api: 'secret_access_key' },
  permission_denied: { smtp: 'username', relay_api: 'api_key', cloud_api: 'access_key_id' },
  region_mismatch: { cloud_api: 'region' },
  sender_not_verified: { smtp: 'from_email', relay_api: 'from_email', cloud_api: 'from_email' },
};

export const suspectOf = (kind: Kind, reason: string): string | null =>
  suspects[reason]?.[kind] ?? null;

/** What was typed, by field; every kind's own fields are kept while another is looked at. */
export type Typed = Partial<Record<string, string>>;

const SECURED_BY = ['smtp_host', 'smtp_port', 'smtp_secure'];

const isEmpty = (text = ''): boolean => text.trim() === '';

/** Whether a record as it stands in the form is one of a relay without a login. */
const isWithoutLogin = (typed: Typed): boolean =>
  typed['smtp_host'] !== undefined && isEmpty(typed['username']);

/** Whether the secret that is kept may be used: it is given only to whom it was given for. */
export const isSecretKept = (typed: Typed, kept: Typed | null): boolean =>
  kept !== null &&
  !isWithoutLogin(kept) &&
  SECURED_BY.every((name) => (typed[name] ?? '').trim() === (kept[name] ?? '').trim());

/** The half of a login that is missing beside the other. */
export const isHalfMissing = (name: string, typed: Typed, kept: Typed | null): boolean =>
  name === 'username'
    ? isEmpty(typed['username']) && !isEmpty(typed['password'])
    : !isEmpty(typed['username']) && isEmpty(typed['password']) && !isSecretKept(typed, kept);

/** A number where one was typed; else the text, so that the server says what is wrong with it. */
const toNumber = (text: string): number | string =>
  /^\d+(\.\d+)?$/.test(text) ? Number(text) : text;

/** The warm-up as it was typed: `50, 500, 5000` from a day on; null for none. */
const rampOf = ({ ramp_started_on = '', ramp_stages = '' }: Typed) => {
  if (ramp_started_on === '') return null;
  const stages = ramp_stages.split(/[,;\s]+/).filter(Boolean);
  return {
    started_on: ramp_started_on,
    ...(stages.length > 0 ? { stages: stages.map(toNumber) } : {}),
  };
};

/** What is sent of what was typed. Secrets that are left empty stay as they are; without a user name there is none. */
export const toGiven = (kind: Kind, typed: Typed): Record<string, unknown> => {
  const given: Record<string, unknown> = {};
  for (const { name, type, isOptional, isLogin } of [...commonFields, ...kindFields[kind]]) {
    const text = typed[name] ?? '';
    const value = type === 'password' ? text : text.trim();
    if (value !== '') given[name] = type === 'number' ? toNumber(value) : value;
    else if (isOptional || (isLogin && type !== 'password')) given[name] = null;
  }
  const rate = (typed['rate_per_second'] ?? '').trim();
  return { ...given, rate_per_second: rate === '' ? null : toNumber(rate), ramp: rampOf(typed) };
};

/** A record as it stands in the form. */
export const toTyped = (provider: Provider): Typed => {
  const { rate_per_second: rate, ramp } = provider;
  const shown = Object.entries(provider).flatMap(([name, value]) =>
    typeof value === 'string' || typeof value === 'number' ? [[name, String(value)]] : [],
  );
  return {
    ...(Object.fromEntries(shown) as Typed),
    rate_per_second: rate === null ? '' : String(rate),
    ...(ramp ? { ramp_started_on: ramp.started_on, ramp_stages: ramp.stages.join(', ') } : {}),
  };
};
