// All abilities of an engine, put on its bus: the list of each module is in its folder.
import type { Ability } from '../bus/ability.ts'
import type { Bus } from '../bus/bus.ts'
import type { AbilityHost } from './ability-host.ts'
import { agentAbilities } from './agent/index.ts'
import { boardAbilities } from './board/index.ts'
import { engineAbilities } from './engine/index.ts'
import { eventAbilities } from './event/index.ts'
import { memAbilities } from './mem/index.ts'
import { modelEmbed, modelList, modelLlm, modelRegister } from './model/index.ts'
import { objectiveAbilities } from './objective/index.ts'
import { planRun } from './plan/run.ts'
import { taskAbilities } from './task/index.ts'

export const hostedAbilities = [
  ...agentAbilities,
  ...boardAbilities,
  ...engineAbilities,
  ...eventAbilities,
  ...objectiveAbilities,
  ...taskAbilities,
] as const

/** Those of our own that others may bring, so that theirs are told from them. */
const ours = new WeakSet<object>()

/**
 * Registers them all, models where runs call them. Returns how to take them off again.
 * @throws ErrandError ALREADY_REGISTERED, with nothing registered.
 */
export function registerAbilities(bus: Bus, host: AbilityHost, runBus: Bus): () => void {
  const taken: Array<() => void> = []
  const leave = (): void => {
    for (const unregister of taken.splice(0)) unregister()
  }
  /** Only once there is a model: whoever brings a `model:llm` of their own may come later than the engine. */
  const offerModels = (): void => {
    if (runBus.has('model:llm')) return
    const llm = modelLlm(host.models)
    ours.add(llm)
    taken.push(runBus.register(llm))
  }
  try {
    for (const ability of ownAbilities(host)) taken.push(bus.register(ability))
    for (const ability of [modelList(host.models), modelRegister(host.models, offerModels)])
      taken.push(runBus.register(ability))
    for (const ability of offeredMemory(host)) if (!bus.has(ability.id)) taken.push(bus.register(ability))
    if (host.models.isEmpty) return leave
    offerModels()
    return leave
  } catch (error) {
    leave()
    throw error
  }
}

function ownAbilities(host: AbilityHost): Ability[] {
  return [
    ...(host.embeddingModel === null ? [] : [modelEmbed(host.embeddingModel)]),
    ...(host.plansRoot === null ? [] : [planRun(host, host.plansRoot)]),
    ...hostedAbilities.map((ability) => ability(host)),
  ]
}

function offeredMemory(host: AbilityHost): Ability[] {
  if (!host.memory.offered) return []
  const abilities = memAbilities.map((ability) => ability(host))
  for (const ability of abilities) ours.add(ability)
  return abilities
}

/** Somebody else answers `model:llm`, or what else the engine would: not the engine, and not nobody. */
export function offersForeign(bus: Bus, abilityId: string): boolean {
  const ability = bus.get(abilityId)
  return ability !== undefined && !ours.has(ability)
}
