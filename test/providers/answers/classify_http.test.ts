// Answers of HTTPS APIs: a status says little, and a body may be anything.
import { describe, expect, test } from 'vitest';
import { classifyHttpAnswer } from '../../../src/providers/answers/answers.ts';
import type { HttpAnswer } from '../../../src/providers/answers/answers.ts';

const spell = (answer: Partial<HttpAnswer>): string => {
  const { scope, meaning, retry } = classifyHttpAnswer({
    provider: 'Any',
    status: 400,
    body: '',
    ...answer,
  });
  return `${scope}/${meaning}/${retry}`;
};

describe('the body comes before the status', () => {
  test.each<[string, Partial<HttpAnswer>, string]>([
    [
      'credits in a 401',
      {
        provider: 'SendGrid',
        status: 401,
        body: '{"errors":[{"message":"Maximum credits exceeded"}]}',
      },
      'account/account_limit/later',
    ],
    [
      'a wrong key in a 500',
      {
        provider: 'SMTP2GO',
        status: 500,
        body: '{"data":{"error_code":"E_ApiResponseCodes.API_KEY_INVALID","error":"API key invalid"}}',
      },
      'account/auth_failed/after_fix',
    ],
    [
      'an exception by its name',
      { provider: 'Amazon SES', status: 400, exception: 'TooManyRequestsException' },
      'account/account_limit/later',
    ],
    [
      'an unverified sender in XML',
      {
        provider: 'Amazon SES',
        body: '<ErrorResponse><Error><Code>MailFromDomainNotVerified</Code></Error></ErrorResponse>',
      },
      'sender/sender_not_allowed/after_fix',
    ],
  ])('%s', (_, answer, expected) => {
    expect(spell(answer)).toBe(expected);
  });
});

describe('a status about the key or the rate ends no send, whatever is named beside it', () => {
  test.each<[number, string]>([
    [401, 'account/auth_failed/after_fix'],
    [420, 'account/account_limit/later'],
    [429, 'account/account_limit/later'],
  ])('%i', (status, expected) => {
    const body = '{"code":"missing_required_field","message":"The recipient is invalid"}';
    expect(spell({ status, body })).toBe(expected);
    expect(spell({ status: 422, body })).toMatch(/^(message|recipient)\/.*\/never$/);
  });
});

describe('neither a field nor a status ends a send beside words of the account', () => {
  test.each([
    'sender news@shop.test is not usable with your account',
    'invalid value: parameter needs a paid plan',
    'field tags: not allowed in your subscription',
    'unknown option of your identity',
  ])('%s', (message) => {
    for (const status of [400, 422]) {
      const body = JSON.stringify({ message });
      expect(spell({ status, body })).not.toMatch(/^(message|recipient)/);
    }
    expect(spell({ status: 422, body: '{"message":"parameter tags is invalid"}' })).toMatch(
      /^message/,
    );
  });
});

describe('the status decides where the body says nothing', () => {
  test.each([
    [401, 'account/auth_failed/after_fix'],
    [402, 'account/account_limit/after_fix'],
    [403, 'account/auth_required_or_policy/after_fix'],
    [404, 'relay/other/after_fix'],
    [413, 'message/message_too_large/never'],
    [429, 'account/account_limit/later'],
    [500, 'relay/temporary_local/later'],
    [503, 'relay/temporary_local/later'],
    [0, 'relay/temporary_local/later'],
  ])('%d', (status, expected) => {
    for (const body of ['', '{}', '[]', 'null', '""', '<html><body></body></html>']) {
      expect(spell({ status, body })).toBe(expected);
    }
  });
});

describe('how long to wait', () => {
  const secondsOf = (headers: Record<string, string>, status = 429) =>
    classifyHttpAnswer({ provider: 'Any', status, body: '', headers }).retryAfterSeconds;

  test('is what Retry-After says, at most a day', () => {
    expect(secondsOf({ 'retry-after': '30' })).toBe(30);
    expect(secondsOf({ 'retry-after': '86400' })).toBe(86_400);
    expect(secondsOf({ 'retry-after': '86401' })).toBe(86_400);
  });

  test('is left out where it says nothing usable, or time does not help', () => {
    expect(secondsOf({})).toBeUndefined();
    expect(secondsOf({ 'retry-after': 'soon' })).toBeUndefined();
    expect(secondsOf({ 'retry-after': '30' }, 401)).toBeUndefined();
  });
});

test('what was sent is not what was refused', () => {
  const body = JSON.stringify({
    message: 'Invalid from address',
    to: 'recipient-unknown@mailbox-full.example',
    request_id: 'rate limit exceeded',
  });
  expect(spell({ status: 422, body })).toMatch(/^sender\//);
});

test.each([
  ['{"errors":{"base":[{"message":"Your account is suspended","code":"x"}]}}', 'account_suspended'],
  ['{"errors":{"non_field_errors":[{"detail":"Daily quota exceeded"}]}}', 'account_limit'],
  ['{"title":"Bad Request","problem":"Your account is suspended"}', 'account_suspended'],
  ['{"erreur":"Votre compte est suspendu"}', 'account_suspended'],
])('what an unusual body says is read: %s', (body, meaning) => {
  expect(spell({ status: 400, body })).toContain(`/${meaning}/`);
});

test('a 400 whose words are not of the request ends no send', () => {
  expect(spell({ status: 400, body: '{"message":"Hamster wheel stands still"}' })).toBe(
    'relay/other/later',
  );
  expect(spell({ status: 400, body: '{"message":"Hamster field missing"}' })).toBe(
    'message/line_or_syntax/never',
  );
});
