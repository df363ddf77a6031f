import { Alert, List, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { withLocalLinks } from '../../automation_queries.ts';
import type { Issue } from '../../automation_queries.ts';
import { AutomationLink } from '../object_links.tsx';

/** Why the definition cannot be activated, though it can be saved. */
export const CannotActivate = ({ issues }: { issues: readonly Issue[] }) => {
  const [first] = issues;
  if (!first) return null;
  return (
    <Alert color="orange" variant="light" role="status" title="Activation needs PUBLIC_URL">
      <Text size="sm">This automation can be saved. To activate it: {first.message}.</Text>
    </Alert>
  );
};

/** Names the active automations whose unsubscribe links readers cannot open. */
export const LocalLinks = ({ projectId }: { projectId: string }) => {
  const { data } = useQuery(withLocalLinks(projectId));
  if (!data || data.items.length === 0) return null;
  return (
    <Alert
      color="orange"
      variant="light"
      role="status"
      title="Readers cannot open the links in your marketing email"
    >
      <Text size="sm">
        PUBLIC_URL is not set to an address that readers open. These automations go on, but their
        unsubscribe links lead nowhere. Ask the operator to set PUBLIC_URL, or pause them.
      </Text>
      <List size="sm" mt={4}>
        {data.items.map(({ id, name }) => (
          <List.Item key={id}>
            <AutomationLink projectId={projectId} automationId={id}>
              {name}
            </AutomationLink>
          </List.Item>
        ))}
      </List>
    </Alert>
  );
};
