import { httpsSink } from './https_sink.ts';
import type { HttpReply, HttpsSink, HttpsSinkOptions, SunkRequest } from './https_sink.ts';

export const ACCESS_KEY_ID = 'AKIAIOSFODNN7EXAMPLE';
export const MESSAGE_ID = '0100018b5c3c0a4f-1a2b3c4d-5e6f-4a1b-8c2d-0123456789ab-000000';

/** An error as Amazon SES sends one. */
export const cloudError = (status: number, name: string, message: string): HttpReply => ({
  status,
  json: { message },
  headers: { 'x-amzn-errortype': `${name}:http://internal.amazon.com/` },
});

const usually = ({ headers }: SunkRequest): HttpReply =>
  headers.authorization?.includes(`Credential=${ACCESS_KEY_ID}/`)
    ? { status: 200, json: { MessageId: MESSAGE_ID } }
    : cloudError(
        403,
        'UnrecognizedClientException',
        'The security token included in the request is invalid.',
      );

/** Amazon SES, as far as we use it. */
export const cloudSink = (options: Partial<HttpsSinkOptions> = {}): HttpsSink =>
  httpsSink({ usually, ...options });

export type SentByCloud = {
  FromEmailAddress: string;
  Destination: { ToAddresses: string[] };
  Content: { Raw: { Data: string } };
  EmailTags: { Name: string; Value: string }[];
};

export const readSent = ({ body }: SunkRequest): SentByCloud =>
  JSON.parse(body.toString()) as SentByCloud;
