export const PROVIDER_KINDS = ['smtp', 'relay_api', 'cloud_api'] as const;
export type ProviderKind = (typeof PROVIDER_KINDS)[number];

export const SMTP_SECURE = ['starttls', 'ssl', 'none'] as const;

/** Any SMTP relay. User name and password are null together: a relay of the operator's network, without AUTH. */
export type SmtpSettings = {
  provider: 'smtp';
  smtp_host: string;
  smtp_port: number;
  smtp_secure: (typeof SMTP_SECURE)[number];
  username: string | null;
  password: string | null;
};

/** SMTP2GO's HTTPS API. */
export type RelaySettings = { provider: 'relay_api'; api_key: string };

/** Amazon SES, in one region. */
export type CloudSettings = {
  provider: 'cloud_api';
  region: string;
  access_key_id: string;
  secret_access_key: string;
};

/** How to reach a provider, its secret in clear: in memory only. */
export type Settings = SmtpSettings | RelaySettings | CloudSettings;

/** The one member of each kind that is sealed. Part of what the seal is bound to, so never renamed. */
export const SECRET_FIELDS = {
  smtp: 'password',
  relay_api: 'api_key',
  cloud_api: 'secret_access_key',
} as const satisfies Record<ProviderKind, string>;

/** The secret of some settings; empty where a relay has no login. */
export const secretOf = (settings: Settings): string => {
  switch (settings.provider) {
    case 'smtp':
      return settings.password ?? '';
    case 'relay_api':
      return settings.api_key;
    case 'cloud_api':
      return settings.secret_access_key;
  }
};
