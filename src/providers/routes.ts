import { domainLimits, domainRoutes } from './domain_routes.ts';

export const providerRoutes = domainRoutes;
export const providerLimits = domainLimits;
