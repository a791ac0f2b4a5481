// The agents and models of an engine, by the names under which tasks use them.

import { Failure } from '../../core/errors.ts'
import { omitUndefined } from '../../core/omit-undefined.ts'
import { type AnyExecutor, type Executor, isExecutor, type RunnableTasks } from '../../entities/executor.ts'
import type { ParsedEngineOptions } from '../../entities/options.ts'
import type { TaskRecord } from '../../entities/task.ts'
import type { ModelIdentity } from '../../entities/telemetry.ts'
import { agentName } from '../../operations/drafts/known-executors.ts'
import type { LanguageModelLike } from '../models/language-model.ts'
import { ModelRegistry, type ResolveModel } from '../models/model-registry.ts'
import { agent } from './agent.ts'

export interface Agents {
  /** All executors of the engine, agents and others. */
  executors: Map<string, AnyExecutor>
  models: ModelRegistry
  canRun(executor: string): RunnableTasks
  /** To be called when a model was registered, which may be later than the engine. */
  addDefaultAgent(): void
  /** The names under which models are offered here: registered ones, the default, and those of agents. */
  offeredModels(): string[]
  /** Whether a model is offered under this name. A foreign `model:llm` ability judges names itself. */
  offersModel(name: string): boolean
  /**
   * The name of the model that works on a task: its own, else that of its executor; undefined for the default model.
   * @throws Failure FORBIDDEN, final, for one that its creator may not choose.
   */
  modelFor(task: Pick<TaskRecord, 'executor' | 'policy'>): string | undefined
  /** The model of this name, or the default, as its provider names it. */
  describeModel(name: string | undefined): ModelIdentity
}

/** `hasForeignModel`: another ability is registered as `model:llm`, with models of its own. */
export function createAgents(options: ParsedEngineOptions, hasForeignModel: () => boolean): Agents {
  const executors = new Map(Object.entries(options.executors)) as Map<string, AnyExecutor>
  const models = new ModelRegistry({ resolve: options.resolveModel as ResolveModel | undefined })
  for (const [id, model] of Object.entries(options.models)) models.register(id, model as LanguageModelLike)
  const { model } = options
  if (typeof model === 'string') models.setDefault(model)
  else if (model !== undefined)
    models.register(nameOf(model as LanguageModelLike), model as LanguageModelLike, { default: true })
  const agentModels = registerAgentModels(executors, models)
  // Abilities passed to the engine are registered a moment later; tasks of an earlier engine may already wait for this
  // agent.
  const isGiven = (options.abilities as ReadonlyArray<{ id?: unknown }>).some(({ id }) => id === 'model:llm')
  const hasModel = (): boolean => models.hasDefault || isGiven || hasForeignModel()
  // An engine without a model, which only commands, leaves the default agent to the engines that run tasks.
  const addDefaultAgent = (): void => {
    if (!executors.has(agentName) && (options.work || hasModel() || !models.isEmpty)) executors.set(agentName, agent())
  }
  addDefaultAgent()
  const offeredModels = (): string[] => {
    const named = [...models.list().map(({ id }) => id), models.defaultName, ...agentModels.values()]
    return [...new Set(named.filter((name) => name !== undefined))]
  }
  const offersModel = (name: string): boolean => hasForeignModel() || offeredModels().includes(name)
  return {
    executors,
    models,
    addDefaultAgent,
    offeredModels,
    offersModel,
    canRun: (name) => {
      const executor = executors.get(name)
      const isAgent = executor === undefined ? name === agentName : isExecutor(executor) && executor.agent !== undefined
      if (!isAgent) return executor === undefined ? 'unknown' : 'all'
      if (agentModels.has(name) || hasModel()) return 'all'
      return models.isEmpty ? 'none' : 'named'
    },
    modelFor: ({ executor, policy: { model, offeredModel } }) => {
      if (model !== undefined && offeredModel && !offersModel(model)) throw notOffered(model, offeredModels())
      return model ?? agentModels.get(executor as string)
    },
    describeModel: (name = models.defaultName) => identityOf(name, models),
  }
}

function identityOf(name: string | undefined, models: ModelRegistry): ModelIdentity {
  const registered = models.list().find(({ id }) => id === name)
  if (registered !== undefined) return { provider: registered.provider, modelId: registered.modelId }
  const [, provider, modelId] = /^([^:/]+):(.+)$/.exec(name ?? '') ?? []
  return omitUndefined({ provider, modelId: modelId ?? name })
}

/** Another engine may have offered it when the task was created. */
function notOffered(model: string, offered: readonly string[]): Failure {
  return new Failure(
    `The model "${model}" is not offered by this engine, and the creator of the task may only choose offered models: ${offered.join(', ') || 'none'}. Register it under that name, or create the task again with another model.`,
    { code: 'FORBIDDEN', retry: false },
  )
}

/** Registers the models of agents, so that every step goes through `model:llm`. */
function registerAgentModels(executors: ReadonlyMap<string, AnyExecutor>, models: ModelRegistry): Map<string, string> {
  const agentModels = new Map<string, string>()
  for (const [name, executor] of executors) {
    const own = isExecutor(executor) ? (executor as Executor).agent?.model : undefined
    if (own === undefined) continue
    const id = typeof own === 'string' ? own : `${name}/${nameOf(own as LanguageModelLike)}`
    if (typeof own !== 'string') models.register(id, own as LanguageModelLike, { default: false })
    agentModels.set(name, id)
  }
  return agentModels
}

function nameOf({ provider, modelId }: LanguageModelLike): string {
  return `${provider}:${modelId}`
}
