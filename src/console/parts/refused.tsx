import { Alert } from '@mantine/core';
import { explain, isOfFields, issuesOf, sayIssue } from '../api.ts';

/** Why a change was not made, in the server's words, as far as no field beside it says so. */
export const Refused = ({ error, fields = [] }: { error: unknown; fields?: readonly string[] }) => {
  if (error === null || error === undefined) return null;
  const issues = Object.entries(issuesOf(error)).filter(([name]) => !fields.includes(name));
  const isSaid = Object.keys(issuesOf(error)).some((name) => fields.includes(name));
  if (isSaid && issues.length === 0) return null;
  return (
    <Alert color="red" role="alert">
      {isOfFields(error) ? 'It is not taken like this:' : explain(error)}
      {issues.map(([name, message]) => (
        <div key={name}>{sayIssue(name, message)}</div>
      ))}
    </Alert>
  );
};
