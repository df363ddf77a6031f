import type { VerdictName } from '../verdicts.ts';

/**
 * Error codes and names of one provider's API, and what they mean. Sources: the vendors'
 * references.
 */
export type ApiCodes = { provider: RegExp; codes: Record<string, VerdictName> };

/** postmarkapp.com/developer/api/overview#error-codes */
const POSTMARK: ApiCodes = {
  provider: /postmark/,
  codes: {
    '10': 'auth_failed',
    '11': 'auth_failed',
    '100': 'temporary_local',
    '400': 'sender_not_allowed',
    '401': 'sender_not_allowed',
    '402': 'message_syntax',
    '403': 'message_syntax',
    '405': 'plan_used_up',
    '406': 'recipient_disabled',
    '409': 'message_syntax',
    '410': 'message_syntax',
    '411': 'content_refused',
    '412': 'account_suspended',
    '413': 'account_suspended',
    '429': 'account_limit',
    '701': 'plan_used_up',
    '1101': 'message_syntax',
    '1235': 'account_other',
    '1236': 'account_other',
  },
};

/** docs.aws.amazon.com/ses: errors of SendEmail, and the common errors of the API. */
const SES: ApiCodes = {
  provider: /ses\b|amazon|aws/,
  codes: {
    toomanyrequestsexception: 'account_limit',
    throttling: 'account_limit',
    throttlingexception: 'account_limit',
    limitexceededexception: 'account_limit',
    limitexceeded: 'account_limit',
    accountsuspendedexception: 'account_suspended_for_good',
    sendingpausedexception: 'account_suspended',
    accountsendingpausedexception: 'account_suspended',
    configurationsetsendingpausedexception: 'account_suspended',
    mailfromdomainnotverifiedexception: 'sender_not_allowed',
    mailfromdomainnotverified: 'sender_not_allowed',
    accessdeniedexception: 'auth_required',
    accessdenied: 'auth_required',
    optinrequired: 'auth_required',
    unrecognizedclientexception: 'auth_failed',
    invalidclienttokenid: 'auth_failed',
    invalidsignatureexception: 'auth_failed',
    signaturedoesnotmatch: 'auth_failed',
    incompletesignature: 'auth_failed',
    incompletesignatureexception: 'auth_failed',
    missingauthenticationtoken: 'auth_failed',
    missingauthenticationtokenexception: 'auth_failed',
    expiredtokenexception: 'auth_failed',
    expiredtoken: 'auth_failed',
    internalserviceerrorexception: 'temporary_local',
    internalfailure: 'temporary_local',
    serviceunavailable: 'temporary_local',
    serviceunavailableexception: 'temporary_local',
    requestexpired: 'temporary_local',
    conflictexception: 'temporary_local',
    concurrentmodificationexception: 'temporary_local',
    configurationsetdoesnotexist: 'account_other',
    notfoundexception: 'account_other',
    templatedoesnotexist: 'message_syntax',
  },
};

/** resend.com/docs/api-reference/errors */
const RESEND: ApiCodes = {
  provider: /resend/,
  codes: {
    rate_limit_exceeded: 'account_limit',
    daily_quota_exceeded: 'account_limit',
    monthly_quota_exceeded: 'account_limit',
    missing_api_key: 'auth_failed',
    invalid_api_key: 'auth_failed',
    restricted_api_key: 'auth_required',
    invalid_access: 'auth_required',
    invalid_from_address: 'sender_not_allowed',
    invalid_region: 'account_other',
    missing_required_field: 'message_syntax',
    missing_required_fields: 'message_syntax',
    invalid_parameter: 'message_syntax',
    invalid_attachment: 'message_syntax',
    invalid_idempotency_key: 'message_syntax',
    invalid_idempotent_request: 'message_syntax',
    concurrent_idempotent_requests: 'temporary_local',
    security_error: 'content_refused',
    not_found: 'relay_other',
    method_not_allowed: 'relay_other',
    application_error: 'temporary_local',
    internal_server_error: 'temporary_local',
  },
};

/** developers.brevo.com/docs/how-it-works#error-codes */
const BREVO: ApiCodes = {
  provider: /brevo|sendinblue/,
  codes: {
    not_enough_credits: 'plan_used_up',
    account_under_validation: 'account_suspended',
    account_suspended: 'account_suspended',
    permission_denied: 'auth_required',
    reseller_permission_denied: 'auth_required',
    too_many_requests: 'account_limit',
    method_not_allowed: 'relay_other',
    document_not_found: 'relay_other',
    missing_parameter: 'message_syntax',
    out_of_range: 'message_syntax',
    duplicate_parameter: 'message_syntax',
    duplicate_request: 'message_syntax',
  },
};

/** dev.mailjet.com: error codes of Send API v3.1 */
const MAILJET: ApiCodes = {
  provider: /mailjet/,
  codes: {
    'send-0008': 'sender_not_allowed',
    'mj-0016': 'account_limit',
    'mj-0002': 'message_syntax',
    'mj-0003': 'message_syntax',
    'mj-0004': 'message_syntax',
    'mj-0005': 'message_syntax',
    'mj-0006': 'message_syntax',
    'send-0001': 'message_syntax',
    'send-0002': 'message_syntax',
    'send-0003': 'message_syntax',
    'send-0010': 'message_syntax',
  },
};

/** support.sparkpost.com: "Extended Error Codes" */
const SPARKPOST: ApiCodes = {
  provider: /sparkpost|bird/,
  codes: {
    '1100': 'auth_required',
    '1303': 'auth_failed',
    '1304': 'auth_failed',
    '1500': 'temporary_local',
    '1501': 'temporary_local',
    '1502': 'temporary_local',
    '1601': 'auth_required',
    '1602': 'temporary_local',
    '1900': 'temporary_local',
    '1910': 'account_other',
    '2101': 'account_limit',
    '7000': 'sender_reputation',
    '7001': 'sender_not_allowed',
    '2102': 'account_limit',
    '2103': 'account_limit',
    '5001': 'recipient_unknown',
    '5002': 'recipient_unknown',
    '1300': 'message_syntax',
    '1301': 'message_syntax',
    '1305': 'message_syntax',
    '1400': 'message_syntax',
    '1401': 'message_syntax',
    '2002': 'message_syntax',
    '3000': 'message_syntax',
    '3001': 'message_syntax',
    '3002': 'message_syntax',
    '3005': 'message_syntax',
  },
};

/** mandrillapp.com/docs: names of errors, and reject reasons of a message. */
const MANDRILL: ApiCodes = {
  provider: /mandrill|mailchimp/,
  codes: {
    invalid_key: 'auth_failed',
    paymentrequired: 'plan_used_up',
    unknown_subaccount: 'account_other',
    'hard-bounce': 'recipient_policy',
    unsigned: 'sender_not_allowed',
    'invalid-sender': 'sender_not_allowed',
    'test-mode-limit': 'account_limit',
  },
};

/** Names that several APIs use, and that mean the same everywhere. */
const COMMON: ApiCodes = {
  provider: /./,
  codes: {
    rate_limit_exceeded: 'account_limit',
    too_many_requests: 'account_limit',
    toomanyrequests: 'account_limit',
    quota_exceeded: 'account_limit',
    userratelimitexceeded: 'account_limit',
    ratelimitexceeded: 'account_limit',
    dailylimitexceeded: 'account_limit',
    applicationthrottled: 'account_limit',
    invalid_api_key: 'auth_failed',
    missing_api_key: 'auth_failed',
    invalid_token: 'auth_failed',
    unauthorized: 'auth_failed',
    invalidauthenticationtoken: 'auth_failed',
    insufficientpermissions: 'auth_required',
    insufficient_permissions: 'auth_required',
    permission_denied: 'auth_required',
    erroraccessdenied: 'auth_required',
    errorsendasdenied: 'sender_not_allowed',
    errormessagesizeexceeded: 'message_too_large',
    errorinvalidrecipients: 'recipient_unknown',
    not_enough_credits: 'plan_used_up',
    insufficient_funds: 'plan_used_up',
    account_suspended: 'account_suspended',
    internal_error: 'temporary_local',
    internal_server_error: 'temporary_local',
    service_unavailable: 'temporary_local',
    'e_apiresponsecodes.endpoint_permission_denied': 'auth_required',
    'e_apiresponsecodes.api_exception': 'account_other_for_good',
  },
};

const TABLES: readonly ApiCodes[] = [POSTMARK, SES, RESEND, BREVO, MAILJET, SPARKPOST, MANDRILL];

const find = (tables: readonly ApiCodes[], provider: string, codes: readonly string[]) => {
  const table = tables.find((each) => each.provider.test(provider));
  for (const code of codes) {
    if (table !== undefined && Object.hasOwn(table.codes, code)) return table.codes[code] ?? null;
  }
  return null;
};

/** The meaning of a code by the provider's own table, or null. */
export const meaningOfApiCode = (provider: string, codes: readonly string[]): VerdictName | null =>
  find(TABLES, provider, codes);

/** The meaning of a name that many APIs use, or null. */
export const meaningOfCommonCode = (codes: readonly string[]): VerdictName | null =>
  find([COMMON], '.', codes);
