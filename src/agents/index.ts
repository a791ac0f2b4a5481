// What other wings use of agents: a command inherits no key of a model provider.
export { isProviderKey } from './models/known-providers.ts'
