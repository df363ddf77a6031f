/** The nonce that the content policy of this page allows styles with. */
export const nonce =
  document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce ?? '';
