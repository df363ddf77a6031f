import { Anchor, Code } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Empty } from '../parts/empty.tsx';
import { Outside } from '../parts/outside.tsx';
import { session } from '../queries.ts';

const ForAdministrator = () => (
  <Empty isPage title="There is no project yet">
    Make one where the service runs: <Code>make project name="My shop"</Code>. It prints the
    project’s keys; then load this page again. Or let somebody in who asked:{' '}
    <Anchor underline="always" renderRoot={(props) => <Link {...props} to="/access-requests" />}>
      access requests
    </Anchor>
    .
  </Empty>
);

const ForMember = () => (
  <Empty isPage title="You are in no project">
    Somebody who owns one can invite you, with a link of your own. Your{' '}
    <Anchor underline="always" renderRoot={(props) => <Link {...props} to="/account" />}>
      account
    </Anchor>{' '}
    stays as it is.
  </Empty>
);

export const NoProject = () => {
  const { data } = useQuery(session);
  return (
    <Outside>{data?.person?.is_admin === true ? <ForAdministrator /> : <ForMember />}</Outside>
  );
};
