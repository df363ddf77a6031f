/** As the cloud names them: `eu-west-1`, `us-gov-east-1`, `eusc-de-east-1`. */
export const REGION = /^[a-z]{2,4}(?:-[a-z]{2,16}){1,3}-\d$/;

const suffixOf = (region: string): string => {
  if (region.startsWith('cn-')) return 'amazonaws.com.cn';
  return region.startsWith('eusc-') ? 'amazonaws.eu' : 'amazonaws.com';
};

/** Where Amazon SES answers for a region. */
export const endpointOf = (region: string): URL =>
  new URL(`https://email.${region}.${suffixOf(region)}`);
