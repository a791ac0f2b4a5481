// errand/machine: executors made of XState machines.
export type { MigrateMachine, StoredMachine } from './changed-definition.ts'
export type { MachineAsk } from './definition.ts'
export { type MachineOptions, machine } from './machine.ts'
export { taskRef } from './task-ref.ts'
