import { Anchor, Code, Container } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Empty } from '../parts/empty.tsx';
import { session } from '../queries.ts';

const ForAdministrator = () => (
  <Empty title="There is no project yet">
    Make one where the service runs: <Code>make project name="My shop"</Code>. It prints the
    project’s keys; then load this page again. Or let somebody in who asked:{' '}
    <Anchor renderRoot={(props) => <Link {...props} to="/access-requests" />}>
      access requests
    </Anchor>
    .
  </Empty>
);

const ForMember = () => (
  <Empty title="You are in no project">
    Somebody who owns one can invite you, with a link of your own. Your{' '}
    <Anchor renderRoot={(props) => <Link {...props} to="/account" />}>account</Anchor> stays as it
    is.
  </Empty>
);

export const NoProject = () => {
  const { data } = useQuery(session);
  return (
    <Container size="sm" py="xl" component="main">
      {data?.person?.is_admin === true ? <ForAdministrator /> : <ForMember />}
    </Container>
  );
};
