import { Alert, List } from '@mantine/core';
import { allIssuesOf, isOfFields } from '../api.ts';
import { Refused } from './refused.tsx';

const ISSUES_SHOWN = 10;

/** Why nothing of a list was taken: of each line of it, or in the server's words. */
export const RefusedList = ({ error }: { error: unknown }) => {
  if (!isOfFields(error)) return <Refused error={error} />;
  const issues = allIssuesOf(error);
  return (
    <Alert color="red" role="alert" title="Nothing was imported">
      <List size="sm">
        {issues.slice(0, ISSUES_SHOWN).map(({ path, message }) => (
          <List.Item key={path + message} className="breaks">
            {path.endsWith('/csv') ? message : `${path}: ${message}`}
          </List.Item>
        ))}
      </List>
      {issues.length > ISSUES_SHOWN && `and ${issues.length - ISSUES_SHOWN} more`}
    </Alert>
  );
};
