import { expect } from 'vitest';

// oxlint-disable-next-line typescript/no-explicit-any
export type ServiceAnswer = { status: number; body: any };

type Asked = { key: string; body?: object | undefined; headers?: Record<string, string> };

/** Sends one request with a key to a process of the service. Returns the status and the JSON of the answer. */
export const askService = async (
  { port }: { port: number },
  method: string,
  path: string,
  { key, body, headers = {} }: Asked,
): Promise<ServiceAnswer> => {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  return { status: response.status, body: await response.json() };
};

/** Does the same, and expects success. Returns the JSON of the answer. */
export const callService = async (
  service: { port: number },
  method: string,
  path: string,
  asked: Asked,
  // oxlint-disable-next-line typescript/no-explicit-any
): Promise<any> => {
  const { status, body } = await askService(service, method, path, asked);
  expect([path, status < 300, body]).toEqual([path, true, body]);
  return body;
};
