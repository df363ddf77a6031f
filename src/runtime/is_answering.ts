const ANSWER_TIMEOUT_MS = 2_000;

/** Whether a service is ready there. */
export const isAnswering = async (baseUrl: string): Promise<boolean> => {
  try {
    const response = await fetch(`${baseUrl}/readyz`, {
      signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS),
    });
    return response.ok;
  } catch {
    return false;
  }
};
