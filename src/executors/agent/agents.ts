// The agents and models of an engine: what `createEngine` was given, by the names under which tasks use them.
import { type AnyExecutor, type Executor, isExecutor } from '../../executor.ts'
import type { LanguageModelLike } from '../../models/language-model.ts'
import { ModelRegistry, type ResolveModel } from '../../models/model-registry.ts'
import type { ParsedEngineOptions } from '../../options.ts'
import { agent } from './agent.ts'

/** The executor of tasks that have a goal and name none. */
export const agentName = 'agent'

export interface Agents {
  /** All executors of the engine, agents and others. */
  executors: Map<string, AnyExecutor>
  models: ModelRegistry
  /** `agent`, if it has a model; null while there is none. */
  goalExecutor(): string | null
  /** The model that an executor brought along; undefined for the default one. */
  modelIdOf(executor: string): string | undefined
}

/** `hasForeignModel`: somebody else answers `model:llm` on the bus, with models of its own. */
export function createAgents(options: ParsedEngineOptions, hasForeignModel: () => boolean): Agents {
  const executors = new Map(Object.entries(options.executors)) as Map<string, AnyExecutor>
  const models = new ModelRegistry({ resolve: options.resolveModel as ResolveModel | undefined })
  for (const [id, model] of Object.entries(options.models)) models.register(id, model as LanguageModelLike)
  const { model } = options
  if (typeof model === 'string') models.setDefault(model)
  else if (model !== undefined)
    models.register(nameOf(model as LanguageModelLike), model as LanguageModelLike, { default: true })
  const brought = bringModels(executors, models)
  // What is given goes on the bus a moment later; tasks of an earlier engine may wait for this agent already.
  const isGiven = (options.abilities as ReadonlyArray<{ id?: unknown }>).some(({ id }) => id === 'model:llm')
  const hasModel = (): boolean => models.hasDefault || isGiven || hasForeignModel()
  if (!executors.has(agentName) && (hasModel() || models.resolves)) executors.set(agentName, agent())
  return {
    executors,
    models,
    goalExecutor: () => {
      if (!executors.has(agentName) && hasModel()) executors.set(agentName, agent())
      const own = executors.get(agentName)
      const brings = isExecutor(own) && own.agent?.model !== undefined
      return own !== undefined && (brings || hasModel()) ? agentName : null
    },
    modelIdOf: (executor) => brought.get(executor),
  }
}

/** Models that agents were made with stand in the registry too, so that every step goes through `model:llm`. */
function bringModels(executors: ReadonlyMap<string, AnyExecutor>, models: ModelRegistry): Map<string, string> {
  const brought = new Map<string, string>()
  for (const [name, executor] of executors) {
    const own = isExecutor(executor) ? (executor as Executor).agent?.model : undefined
    if (own === undefined) continue
    const id = typeof own === 'string' ? own : `${name}/${nameOf(own as LanguageModelLike)}`
    if (typeof own !== 'string') models.register(id, own as LanguageModelLike, { default: false })
    brought.set(name, id)
  }
  return brought
}

function nameOf({ provider, modelId }: LanguageModelLike): string {
  return `${provider}:${modelId}`
}
