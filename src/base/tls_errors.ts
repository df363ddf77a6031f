const CERTIFICATE_CODES = /CERT|SELF_SIGNED|UNABLE_TO_VERIFY|ERR_TLS_CERT|HOSTNAME_MISMATCH/;

/** Whether an error's code says that the other side's certificate is not to be trusted. */
export const isCertificateCode = (code: string): boolean => CERTIFICATE_CODES.test(code);
