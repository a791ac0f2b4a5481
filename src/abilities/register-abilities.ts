// All abilities of an engine, put on its bus; one file each, and this is their list.
import type { Ability } from '../bus/ability.ts'
import type { Bus } from '../bus/bus.ts'
import type { AbilityHost } from './ability-host.ts'
import { modelList } from './model/list.ts'
import { modelLlm } from './model/llm.ts'
import { modelRegister } from './model/register.ts'

type AnyAbility = Ability<any, any, any>

/** Those of our own that answer `model:llm`, so that others are told from them. */
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
    for (const ability of engineAbilities(host, offerModels)) taken.push(bus.register(ability))
    if (host.models.isEmpty) return leave
    offerModels()
    return leave
  } catch (error) {
    leave()
    throw error
  }
}

function engineAbilities(host: AbilityHost, offerModels: () => void): AnyAbility[] {
  return [modelList(host.models), modelRegister(host.models, offerModels)]
}

/** Somebody else answers `model:llm`. */
export function offersForeignModel(bus: Bus): boolean {
  const llm = bus.get('model:llm')
  return llm !== undefined && !ours.has(llm)
}
