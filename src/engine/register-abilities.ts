// Registers all abilities of an engine on its bus. Each wing has the list of its own.

import type { EmbeddingModelLike } from '../agents/models/embedding-model.ts'
import type { ModelRegistry } from '../agents/models/model-registry.ts'
import { modelEmbed, modelList, modelLlm, modelRegister } from '../agents/operations/models.ts'
import { type Ability, renamedAbility } from '../bus/ability.ts'
import type { Bus } from '../bus/bus.ts'
import { forwardAbilities } from '../bus/mirror-bus.ts'
import { ownAbility } from '../bus/own-abilities.ts'
import type { TaskRecord } from '../entities/task.ts'
import type { Op, Reads } from '../ledger/ledger.ts'
import { memoryOperations } from '../memory/operations/index.ts'
import type { MemoryAbilityHost } from '../memory/operations/memory-ability-host.ts'
import { requireOwn } from '../operations/steps/conditions.ts'
import { planRun } from '../plans/operations/run.ts'
import type { PlansRoot } from '../plans/plans-root.ts'
import { hostedOperations } from './operations.ts'
import type { WingName, Wings } from './wings.ts'

/** What the abilities of the core and of all wings require of the engine. */
export interface WholeHost extends MemoryAbilityHost {
  readonly models: ModelRegistry
  /** How long the stream of a model may be silent. */
  readonly modelIdleTimeoutMs: number
  /** Answers `model:embed`; null if the engine has none. */
  readonly embeddingModel: EmbeddingModelLike | null
  /** The folder of plans that come from outside; null: none are run. */
  readonly plansRoot: PlansRoot | null
}

/** The engine's own abilities with ids that users may register themselves, to distinguish the two. */
const replaceable = new WeakSet<object>()

/**
 * Registers all abilities; those of models go on the bus that runs call. Returns a function that unregisters them.
 * @throws ErrandError ALREADY_REGISTERED, with nothing registered.
 */
function registerAbilities(bus: Bus, host: WholeHost, runBus: Bus, wings: Wings): () => void {
  const registrations: Array<() => void> = []
  const unregisterAll = (): void => {
    for (const unregister of registrations.splice(0)) unregister()
  }
  /** Registers `model:llm` once there is a model, since users may register their own `model:llm` after the engine has opened. */
  const offerModels = (): void => {
    if (runBus.has('model:llm')) return
    const llm = modelLlm(host.models, { clock: host.clock, idleTimeoutMs: host.modelIdleTimeoutMs })
    replaceable.add(llm)
    registrations.push(runBus.register(llm))
  }
  try {
    for (const ability of ownAbilities(host, wings)) registrations.push(bus.register(ownAbility(ability)))
    for (const ability of wings.has('memory') ? offeredMemory(host) : [])
      if (!bus.has(ability.id)) registrations.push(bus.register(ability))
    if (!wings.has('agents')) return unregisterAll
    // The bus of a vocabulary offers its agents all that is on it.
    for (const ability of [modelList(host.models), modelRegister(host.models, offerModels)])
      registrations.push(runBus.register(runBus === bus ? ownAbility(ability) : ability))
    if (host.models.isEmpty) return unregisterAll
    offerModels()
    return unregisterAll
  } catch (error) {
    unregisterAll()
    throw error
  }
}

function ownAbilities(host: WholeHost, wings: Wings): Ability[] {
  return [
    ...(host.embeddingModel === null || !wings.has('agents') ? [] : [modelEmbed(host.embeddingModel)]),
    ...(host.plansRoot === null || !wings.has('plans') ? [] : [planRun({ ...host, plansRoot: host.plansRoot })]),
    ...Object.entries(hostedOperations).flatMap(([part, operations]) =>
      part === 'core' || wings.has(part as WingName) ? operations.map((operation) => operation(host)) : [],
    ),
  ]
}

function offeredMemory(host: WholeHost): Ability[] {
  if (!host.memory.offered) return []
  const abilities = memoryOperations.map((operation) => operation(host))
  for (const ability of abilities) replaceable.add(ownAbility(ability))
  return abilities
}

/** True if an ability of the user is registered under this id, rather than the engine's own or none. */
export function hasUserAbility(bus: Bus, abilityId: string): boolean {
  const ability = bus.get(abilityId)
  return ability !== undefined && !replaceable.has(ability)
}

/** The bus of a vocabulary, on which the runs of an engine call abilities in place of the engine's own bus. */
export interface RunBus {
  bus: Bus
  /** The vocabulary's own abilities. On the engine's bus, where surfaces call them, their ids begin with the `module`. */
  abilities(host: WholeHost): readonly Ability[]
  module: string
  /** The form in which abilities of memory receive a task. */
  readTask(tx: Reads, task: TaskRecord): Op<object>
  /** Gets the function that removes all abilities, when the engine could not be opened. Default: they are removed. */
  onFailed?(unregister: () => void): void
}

/**
 * Registers the abilities of the engine, of its options and of its vocabulary, and the guard that decides which caller may access
 * which task. Returns a function that removes them all.
 */
export function registerOnBuses(
  bus: Bus,
  host: WholeHost,
  given: readonly Ability[],
  wings: Wings,
  runs: RunBus | undefined,
): () => void {
  const runBus = runs?.bus ?? bus
  const vocabulary = runs?.abilities(host) ?? []
  const removals: Array<() => void> = []
  const removeAll = (): void => {
    for (const remove of removals.splice(0)) remove()
  }
  try {
    for (const ability of [...given, ...vocabulary]) removals.push(runBus.register(ability))
    removals.push(registerAbilities(bus, host, runBus, wings))
    for (const ability of vocabulary)
      removals.push(bus.register(renamedAbility(ability, `${runs?.module}:${ability.id}`)))
    if (runBus !== bus) removals.push(forwardAbilities(runBus, bus, new Set(vocabulary)))
    for (const each of new Set([bus, runBus])) {
      removals.push(each.useGuard((caller, named) => host.read((tx) => requireOwn(tx, caller, named))))
    }
    return removeAll
  } catch (error) {
    removeAll()
    throw error
  }
}
