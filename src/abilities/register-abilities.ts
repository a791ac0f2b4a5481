// All abilities of an engine, put on its bus: the list of each module is in its folder.
import type { Ability } from '../bus/ability.ts'
import type { Bus } from '../bus/bus.ts'
import type { AbilityHost } from './ability-host.ts'
import { agentAbilities } from './agent/index.ts'
import { boardAbilities } from './board/index.ts'
import { engineAbilities } from './engine/index.ts'
import { eventAbilities } from './event/index.ts'
import { ldgAbilities } from './ldg/index.ts'
import { memAbilities } from './mem/index.ts'
import { modelEmbed } from './model/embed.ts'
import { modelList } from './model/list.ts'
import { modelLlm } from './model/llm.ts'
import { modelRegister } from './model/register.ts'
import { objectiveAbilities } from './objective/index.ts'
import { taskAbilities } from './task/index.ts'

export const hostedAbilities = [
  ...agentAbilities,
  ...boardAbilities,
  ...engineAbilities,
  ...eventAbilities,
  ...ldgAbilities,
  ...objectiveAbilities,
  ...taskAbilities,
] as const

/** Not registered where the bus has one of the same id already (conformance S1-070). */
export const memoryAbilities = memAbilities

/** Those of our own that others may bring, so that theirs are told from them. */
const ours = new WeakSet<object>()

/** Registers them all. Returns how to take them off again. @throws ErrandError ALREADY_REGISTERED, with nothing registered. */
export function registerAbilities(bus: Bus, host: AbilityHost): () => void {
  const taken: Array<() => void> = []
  const leave = (): void => {
    for (const unregister of taken.splice(0)) unregister()
  }
  /** Only once there is a model: whoever brings a `model:llm` of their own may come later than the engine. */
  const offerModels = (): void => {
    if (bus.has('model:llm')) return
    const llm = modelLlm(host.models)
    ours.add(llm)
    taken.push(bus.register(llm))
  }
  try {
    for (const ability of ownAbilities(host, offerModels)) taken.push(bus.register(ability))
    for (const ability of offeredMemory(host)) if (!bus.has(ability.id)) taken.push(bus.register(ability))
    if (host.models.isEmpty) return leave
    offerModels()
    return leave
  } catch (error) {
    leave()
    throw error
  }
}

function ownAbilities(host: AbilityHost, offerModels: () => void): Ability[] {
  return [
    modelList(host.models),
    modelRegister(host.models, offerModels),
    ...(host.embeddingModel === null ? [] : [modelEmbed(host.embeddingModel)]),
    ...hostedAbilities.map((ability) => ability(host)),
  ]
}

function offeredMemory(host: AbilityHost): Ability[] {
  if (!host.memory.offered) return []
  const abilities = memoryAbilities.map((ability) => ability(host))
  for (const ability of abilities) ours.add(ability)
  return abilities
}

/** Somebody else answers `model:llm`, or what else the engine would: not the engine, and not nobody. */
export function offersForeign(bus: Bus, abilityId: string): boolean {
  const ability = bus.get(abilityId)
  return ability !== undefined && !ours.has(ability)
}
