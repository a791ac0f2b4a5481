// The types of the engine's own abilities by id, so that `bus.call('task:create', { goal })` is type-checked.

import type { modelEmbed, modelList, modelLlm, modelRegister } from '../agents/operations/models.ts'
import type { Ability } from '../bus/ability.ts'
import type { memoryOperations } from '../memory/operations/index.ts'
import type { planRun } from '../plans/operations/run.ts'
import type { Engine } from './engine-api.ts'
import type { HostedOperation } from './operations.ts'

type Listed =
  | HostedOperation
  | (typeof memoryOperations)[number]
  | typeof modelEmbed
  | typeof modelList
  | typeof modelLlm
  | typeof modelRegister
  | typeof planRun

/** `output` is the result of a call; for a stream that only yields chunks it is `never`. */
export type TypesOf<A> =
  A extends Ability<infer Input, infer Chunk, infer Output> ? { input: Input; output: Output; chunk: Chunk } : never

type TypesById = { [A in ReturnType<Listed> as A['id']]: TypesOf<A> }

/** The abilities that every engine registers on its bus, by id. */
export interface EngineAbilityTypes extends TypesById {}

declare module '../bus/ability-types.ts' {
  interface AbilityTypes extends EngineAbilityTypes {}
}

declare module '../entities/executor.ts' {
  interface RunEngine extends Engine {}
}
