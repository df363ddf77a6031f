/** Whether the scenarios against real relays run: they take half an hour, so `make test-mta` asks for them. */
export const areScenariosAsked = (): boolean => process.env['MTA_SCENARIOS'] === 'yes';
