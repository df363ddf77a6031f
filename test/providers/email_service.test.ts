import { describe, expect, test } from 'vitest';
import { serviceOf, serviceOfHost } from '../../src/providers/email_service.ts';

describe('the service behind an SMTP host', () => {
  test.each([
    ['email-smtp.eu-west-1.amazonaws.com', 'amazon_ses'],
    ['EMAIL-SMTP-FIPS.us-east-1.amazonaws.com', 'amazon_ses'],
    ['email-smtp.cn-north-1.amazonaws.com.cn', 'amazon_ses'],
    ['email-smtp.eusc-de-east-1.amazonaws.eu', 'amazon_ses'],
    ['vpce-0123-abc.email-smtp.us-east-1.vpce.amazonaws.com', 'amazon_ses'],
    ['smtp.eu.mailgun.org', 'mailgun'],
    ['mail-eu.smtp2go.com', 'smtp2go'],
    ['email-smtp.eu-west-1.amazonaws.com.evil.test', 'other'],
    ['evil-email-smtp.eu-west-1.amazonaws.com', 'other'],
    ['notmailgun.org', 'other'],
    ['127.0.0.1', 'other'],
  ])('%s is %s', (host, service) => {
    expect(serviceOfHost(host)).toBe(service);
  });
});

test('the HTTPS connectors each have one service', () => {
  const cloud = { provider: 'cloud_api', region: 'eu-west-1' } as const;
  const keys = { access_key_id: 'a', secret_access_key: 'b' };
  expect(serviceOf({ ...cloud, ...keys })).toBe('amazon_ses');
  expect(serviceOf({ provider: 'relay_api', api_key: 'api-a' })).toBe('smtp2go');
});
