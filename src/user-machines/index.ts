// errand/machine: executors made of XState machines.

export type { MachineAsk } from './ask-meta.ts'
export { callOf } from './call-of.ts'
export type { MigrateMachine, StoredMachine } from './changed-definition.ts'
export { type MachineOptions, machine } from './machine.ts'
export { taskRef } from './task-ref.ts'
