// Registers all abilities of an engine on its bus. Each wing has the list of its own.

import type { EmbeddingModelLike } from '../agents/models/embedding-model.ts'
import type { ModelRegistry } from '../agents/models/model-registry.ts'
import { modelEmbed, modelList, modelLlm, modelRegister } from '../agents/operations/models.ts'
import { taskRoute } from '../agents/operations/route.ts'
import { boardAbilities } from '../board/operations/index.ts'
import type { Ability } from '../bus/ability.ts'
import type { Bus } from '../bus/bus.ts'
import { ownAbility } from '../bus/own-abilities.ts'
import { memAbilities } from '../memory/operations/mem-abilities.ts'
import type { MemoryAbilityHost } from '../memory/operations/memory-ability-host.ts'
import { teamAbilities } from '../memory/operations/team-abilities.ts'
import { engineAbilities } from '../operations/engine/index.ts'
import { eventAbilities } from '../operations/event/index.ts'
import { taskAbilities } from '../operations/task/index.ts'
import { planRun } from '../plans/operations/run.ts'
import type { PlansRoot } from '../plans/plans-root.ts'

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

export const hostedAbilities = [
  ...boardAbilities,
  ...engineAbilities,
  ...eventAbilities,
  ...taskAbilities,
  ...teamAbilities,
  taskRoute,
] as const

/** The engine's own abilities with ids that users may register themselves, to distinguish the two. */
const replaceable = new WeakSet<object>()

/**
 * Registers all abilities; those of models go on the bus that runs call. Returns a function that unregisters them.
 * @throws ErrandError ALREADY_REGISTERED, with nothing registered.
 */
export function registerAbilities(bus: Bus, host: WholeHost, runBus: Bus): () => void {
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
    for (const ability of ownAbilities(host)) registrations.push(bus.register(ownAbility(ability)))
    // The bus of a vocabulary offers its agents all that is on it.
    for (const ability of [modelList(host.models), modelRegister(host.models, offerModels)])
      registrations.push(runBus.register(runBus === bus ? ownAbility(ability) : ability))
    for (const ability of offeredMemory(host)) if (!bus.has(ability.id)) registrations.push(bus.register(ability))
    if (host.models.isEmpty) return unregisterAll
    offerModels()
    return unregisterAll
  } catch (error) {
    unregisterAll()
    throw error
  }
}

function ownAbilities(host: WholeHost): Ability[] {
  return [
    ...(host.embeddingModel === null ? [] : [modelEmbed(host.embeddingModel)]),
    ...(host.plansRoot === null ? [] : [planRun(host, host.plansRoot)]),
    ...hostedAbilities.map((ability) => ability(host)),
  ]
}

function offeredMemory(host: WholeHost): Ability[] {
  if (!host.memory.offered) return []
  const abilities = memAbilities.map((ability) => ability(host))
  for (const ability of abilities) replaceable.add(ownAbility(ability))
  return abilities
}

/** True if an ability of the user is registered under this id, rather than the engine's own or none. */
export function hasUserAbility(bus: Bus, abilityId: string): boolean {
  const ability = bus.get(abilityId)
  return ability !== undefined && !replaceable.has(ability)
}
