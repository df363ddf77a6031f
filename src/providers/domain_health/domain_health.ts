// The health of senders' domains: what receivers find out about them, checked on demand and daily, with its history.
export { pageChanges, readStoredHealth, recordDomainHealth } from './acts.ts';
export { checkDomain } from './check.ts';
export type { DomainHealth, DomainSubject } from './check.ts';
export type { DnsRecord, Finding } from './findings.ts';
export { recheckDomains } from './recheck.ts';
export { domainLimits, domainRoutes } from './routes.ts';
export { DomainCheckInput } from './schema.ts';
