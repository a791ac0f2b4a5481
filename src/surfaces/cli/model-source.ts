// Which models the verbs that work have (run, ask, chat), and what else their agents get: --model, --files, --max-iterations.
// A model is chosen when it is first asked for, or before, so that a missing key is told before anything has been created.
import { resolve } from 'node:path'
import { ErrandError } from '../../core/errors.ts'
import type { EngineOptions } from '../../engine-api.ts'
import type { LanguageModelLike } from '../../models/language-model.ts'
import type { Plan } from '../../plans/plan.ts'
import { type FlagsOf, misuse, texts, wholeNumber } from '../../terminal/arguments.ts'
import { type CommandIo, note } from '../../terminal/io.ts'
import { chooseModel } from './model-choice.ts'

export const agentOptions = texts('model', 'files', 'max-iterations')

export type AgentFlags = FlagsOf<typeof agentOptions>

/** What `help` says of them. */
export const agentOptionsHelp = [
  '  --model SPEC   the model of agents: openai:gpt-5-mini (with OPENAI_API_KEY), ollama:llama3.2 (a server of your own),',
  '                 NAME:model with NAME_BASE_URL, or script:FILE, which plays what was written beforehand; else ERRAND_MODEL',
  '  --files DIR    agents may list, read and search the text files in this folder; hidden ones and what lies outside never',
  '  --max-iterations N  steps that a model may take in one attempt of a task; default 10',
].join('\n')

export interface AgentsOptions {
  /** The model of agents that name none. */
  defaultModel: string | undefined
  /** Models that are named in a file, and the folder in which they look for theirs. */
  named?: { models: readonly string[]; folder: string }
  /** What the file says where the flags say nothing. */
  ofPlan?: Pick<Plan, 'files' | 'maxIterations'>
  /** Told what the user should know about the choice of a model. Default: a line on stderr. */
  note?: (text: string) => void
}

/**
 * What agents get, for `createEngine`. Without any model there is nothing to resolve one, so that the engine leaves the tasks of
 * agents to others.
 * @throws ErrandError INVALID_INPUT, NOT_FOUND
 */
export async function agentsFor(
  io: CommandIo,
  flags: AgentFlags,
  { defaultModel, named = { models: [], folder: '' }, ofPlan = {}, note: tell }: AgentsOptions,
): Promise<Pick<EngineOptions, 'model' | 'resolveModel' | 'abilities' | 'maxIterations'>> {
  const files = flags.files === undefined ? ofPlan.files : resolve(io.cwd, flags.files)
  const steps = flags['max-iterations']
  const maxIterations = steps === undefined ? ofPlan.maxIterations : wholeNumber('max-iterations', steps, 1)
  const abilities =
    files === undefined ? undefined : (await import('../../abilities/fs/file-abilities.ts')).fileAbilities(files)
  if (defaultModel === undefined && named.models.length === 0) return { abilities, maxIterations }
  const chosen = new Map<string, Promise<LanguageModelLike>>()
  const resolveModel = (id: string): Promise<LanguageModelLike> => {
    const known = chosen.get(id)
    if (known !== undefined) return known
    const place = named.models.includes(id)
      ? { folder: named.folder }
      : { folder: io.cwd, anywhere: id === defaultModel }
    const choosing = chooseModel(id, io.env, place, { note: tell ?? ((text) => note(io, text)) })
    chosen.set(id, choosing)
    choosing.catch(() => chosen.delete(id))
    return choosing
  }
  return { model: defaultModel, resolveModel, abilities, maxIterations }
}

/** The same, with the default model chosen at once: a key that is missing is told before anything begins. */
export async function readyAgents(io: CommandIo, flags: AgentFlags, defaultModel: string | undefined) {
  const agents = await agentsFor(io, flags, { defaultModel })
  if (defaultModel !== undefined) await agents.resolveModel?.(defaultModel)
  return agents
}

/** The model of agents that name none: of the flag, else of the plan, else of the environment. */
export function defaultModelOf(io: CommandIo, flags: AgentFlags, ofPlan?: string): string | undefined {
  if (flags.model?.trim() === '') throw misuse('--model is empty: it takes a model, like --model openai:gpt-5-mini.')
  return flags.model ?? ofPlan ?? (io.env['ERRAND_MODEL']?.trim() || undefined)
}

export const howToGiveModel =
  'Give one with --model, or in ERRAND_MODEL: openai:gpt-5-mini, ollama:llama3.2 or script:FILE, for example.'

/** @throws ErrandError NO_MODEL */
export function requireModel(io: CommandIo, flags: AgentFlags): string {
  const model = defaultModelOf(io, flags)
  if (model !== undefined) return model
  throw new ErrandError('NO_MODEL', `There is no model to ask. ${howToGiveModel}`, { variable: 'ERRAND_MODEL' })
}
