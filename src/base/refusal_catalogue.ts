/** Every refusal that the API answers: its name, its status and what the caller can do. SQL raises the same names. */
export const refusals = {
  invalid_request: { status: 400, detail: 'The request does not match the schema. See issues.' },
  occurred_at_out_of_range: {
    status: 400,
    detail: 'An event lies outside the time that this key may write to. See issues.',
  },
  invalid_idempotency_key: {
    status: 400,
    detail: 'An Idempotency-Key has 1 to 255 visible ASCII characters, without blanks.',
  },
  invalid_json: { status: 400, detail: 'The body is not valid JSON in UTF-8.' },
  invalid_token: {
    status: 401,
    detail: 'Send a valid key of this project as "Authorization: Bearer <key>".',
  },
  invalid_signature: {
    status: 401,
    detail: 'The signature of this webhook is missing, wrong, or too old. Check the signing key.',
  },
  topic_needs_approval: {
    status: 401,
    detail:
      'This SNS topic needs the approval of an owner in Settings, Webhooks, or the webhook token in its URL.',
  },
  not_signed_in: { status: 401, detail: 'Sign in to the Console first: there is no live session.' },
  wrong_login: {
    status: 401,
    detail: 'No person has this e-mail address and this password. Check both.',
  },
  foreign_origin: {
    status: 403,
    detail: 'Only pages of this installation may do this. Open the Console at PUBLIC_URL.',
  },
  foreign_host: {
    status: 403,
    detail: 'The Console answers only at PUBLIC_URL. Open it there.',
  },
  role_too_low: {
    status: 403,
    detail: 'Your role in this project does not allow this. Ask an owner.',
  },
  password_needed: { status: 403, detail: 'Enter your password again: this change needs it.' },
  wrong_password: { status: 403, detail: 'This is not your password. Nothing was changed.' },
  wrong_key_type: { status: 403, detail: 'This endpoint needs a server key.' },
  foreign_topic: {
    status: 403,
    detail:
      'This SNS topic is not confirmed for the project. Approve it in Settings, Webhooks, or subscribe with the token.',
  },
  not_found: { status: 404, detail: 'There is nothing here that this key may see.' },
  method_not_allowed: {
    status: 405,
    detail: 'This path exists, but not for this method. See the Allow header.',
  },
  webhook_replayed: {
    status: 406,
    detail: 'The signature of this webhook came before, with another body. It is not taken.',
  },
  identity_conflict: {
    status: 409,
    detail: 'This anonymous_id is linked to another external_id. Undo that link first.',
  },
  being_erased: {
    status: 409,
    detail:
      'One of the two is being erased. Ask again when that is done: a fresh person starts then.',
  },
  complaint_not_confirmed: {
    status: 409,
    detail: 'The recipient complained. Lift it only if they ask for mail, and say lift_complaint.',
  },
  automation_changed: {
    status: 409,
    detail:
      'The automation has a newer version than the one you say. Read it, then decide what your change is.',
  },
  automation_state: {
    status: 409,
    detail: 'This cannot be done to the automation as it stands. Read its status first.',
  },
  public_url_required: {
    status: 409,
    detail:
      'The automation sends marketing email through a provider outside this machine, and its unsubscribe links lead ' +
      'nowhere. Set PUBLIC_URL to the address that readers open, such as https://mail.example.com, and restart.',
  },
  from_email_taken: {
    status: 409,
    detail: 'Another e-mail provider of this project has this from_email. Change that one.',
  },
  request_timeout: { status: 408, detail: 'The request did not arrive completely in time.' },
  idempotency_key_in_use: {
    status: 409,
    detail: 'The same request with this Idempotency-Key is still running. Retry after Retry-After.',
  },
  segment_changed: {
    status: 409,
    detail: 'Somebody changed this segment since that version. Read it again, then change it.',
  },
  segment_in_use: {
    status: 409,
    detail: 'Another segment or an automation asks about this segment. Change that one first.',
  },
  segment_not_static: {
    status: 409,
    detail: 'The members of this segment follow from its definition. Import into a static one.',
  },
  too_many_segments: {
    status: 409,
    detail: 'This project has as many segments as it may. Delete one first.',
  },
  too_many_traits: {
    status: 409,
    detail:
      'With these, servers would have told this person more than 256 traits, or more than 32 KiB of JSON. Take \
others away first, by setting them to null.',
  },
  template_changed: {
    status: 409,
    detail:
      'The template has a newer version than the one you say. Read it, then decide what your change is.',
  },
  folder_changed: {
    status: 409,
    detail:
      'What these files were made from, or were compared with, was changed meanwhile. Look again.',
  },
  template_archived: {
    status: 409,
    detail: 'The template is archived. Restore it first.',
  },
  template_in_use: {
    status: 409,
    detail: 'An active automation sends this template. Give it another first.',
  },
  too_many_subscriptions: {
    status: 409,
    detail:
      'The project has the maximum of subscribed endpoints. Remove the subscriptions of another endpoint first.',
  },
  endpoint_disabled: {
    status: 409,
    detail: 'The endpoint is disabled. Enable it in the Console, or by PATCH {"status": "active"}.',
  },
  last_owner: {
    status: 409,
    detail: 'A project keeps at least one owner. Make somebody else an owner first.',
  },
  last_admin: {
    status: 409,
    detail: 'An installation keeps at least one administrator. Invite another one first.',
  },
  already_member: {
    status: 409,
    detail: 'Whoever has this address is there already. Change their role instead.',
  },
  too_many_people: {
    status: 409,
    detail: 'There are as many people, or open invitations, as there may be. Remove some first.',
  },
  too_many_topics: {
    status: 409,
    detail: 'This project has as many confirmed SNS topics as it may. Remove one first.',
  },
  topic_not_confirmed: {
    status: 409,
    detail:
      'Amazon SNS did not confirm the subscription. Create it again at Amazon SNS, without raw message delivery.',
  },
  send_not_unknown: {
    status: 409,
    detail: 'The outcome of this send is known, or it was not handed over yet: nothing to resolve.',
  },
  send_not_rejected: {
    status: 409,
    detail: 'Only a rejected send can be queued again. Read the send to see its status.',
  },
  send_not_queued: {
    status: 409,
    detail: 'This send does not wait: there is nothing to cancel.',
  },
  body_too_large: { status: 413, detail: 'The body is larger than this endpoint accepts.' },
  request_too_costly: {
    status: 413,
    detail: 'This request costs more units than one request may. Split it into smaller requests.',
  },
  unsupported_media_type: {
    status: 415,
    detail: 'Send the body as "Content-Type: application/json", not compressed.',
  },
  idempotency_key_reused: {
    status: 422,
    detail: 'This Idempotency-Key was used with another request. Take a new one for a new request.',
  },
  provider_preflight_failed: {
    status: 422,
    detail: 'The provider could not be used with these settings. See reason, cause and fix.',
  },
  provider_test_failed: {
    status: 422,
    detail: 'The provider refused the test message, or did not answer. See reason, cause and fix.',
  },
  template_failed: {
    status: 422,
    detail: 'The template cannot be rendered. See detail.',
  },
  recipient_suppressed: {
    status: 422,
    detail: 'This address is on the suppression list: nothing is sent to it.',
  },
  rate_limited: {
    status: 429,
    detail: 'A rate limit has no room for this request. Retry after Retry-After.',
  },
  quota_exceeded: {
    status: 429,
    detail:
      'A daily quota of this publishable key, or the share of your address, is used up. `reason` names the quota. ' +
      'Send the request again after Retry-After seconds.',
  },
  too_many_sign_ins: {
    status: 429,
    detail: 'Too many attempts to sign in. Wait, then try again.',
  },
  too_many_confirmations: { status: 429, detail: 'Too many wrong passwords. Try again later.' },
  too_many_streams: {
    status: 429,
    detail: 'Too many live streams are open. Close one, or poll instead.',
  },
  headers_too_large: { status: 431, detail: 'The request headers are too large.' },
  internal_error: {
    status: 500,
    detail:
      'Something failed on our side. Retry with back-off; quote request_id when you report it.',
  },
  unavailable: {
    status: 503,
    detail:
      'The database cannot be reached. Nothing is known to be stored: retry after Retry-After.',
  },
  database_timeout: {
    status: 503,
    detail: 'The database took too long, and nothing was stored. Retry after Retry-After.',
  },
  overloaded: {
    status: 503,
    detail: 'Too much is waiting already. Retry after Retry-After.',
  },
} as const satisfies Record<string, { status: number; detail: string }>;
