// The options of the verbs that run agents (run, ask, chat, …): --model, --files, --mcp, --max-iterations. A model is resolved when it is
// first used, or earlier, so that a missing key is reported before anything is created.
import { resolve } from 'node:path'
import type { LanguageModelLike } from '../../agents/models/language-model.ts'
import { ErrandError } from '../../core/errors.ts'
import type { EngineOptions } from '../../engine/engine-api.ts'
import type { Plan } from '../../plans/plan.ts'
import { type FlagsOf, lists, misuse, texts, wholeNumber } from '../terminal/arguments.ts'
import { type CommandIo, note } from '../terminal/io.ts'
import { mcpAbilities, mcpHelp } from './mcp-servers.ts'
import { chooseModel } from './model-choice.ts'

export const agentOptions = { ...texts('model', 'files', 'max-iterations'), ...lists('mcp') }

export type AgentFlags = FlagsOf<typeof agentOptions>

/** Help for `agentOptions`. */
export const agentOptionsHelp = [
  '  --model SPEC   the model of agents: openai:gpt-5-mini (with OPENAI_API_KEY), ollama:llama3.2 (a local server),',
  '                 NAME:model with NAME_BASE_URL, or script:FILE, which plays a prepared script; default: ERRAND_MODEL',
  '  --files DIR    lets agents list, read and search the text files in this folder, except hidden ones',
  mcpHelp,
  '  --max-iterations N  the maximum of model steps in one attempt of a task; default 10',
].join('\n')

export interface AgentsOptions {
  /** The model of agents that name none. */
  defaultModel: string | undefined
  /** Models that a plan file names, and the folder of their scripts. */
  named?: { models: readonly string[]; folder: string }
  /** Defaults of the plan file for flags that are not given. */
  ofPlan?: Partial<Pick<Plan, 'files' | 'folder' | 'maxIterations' | 'mcp'>>
  /** Receives notes for the user about the choice of a model. Default: a line on stderr. */
  note?: (text: string) => void
}

/**
 * Options of agents for `createEngine`. Without a model there is no `resolveModel`, so that this engine leaves the tasks of agents to
 * other processes.
 * @throws ErrandError INVALID_INPUT, NOT_FOUND
 */
export async function agentsFor(
  io: CommandIo,
  flags: AgentFlags,
  { defaultModel, named = { models: [], folder: '' }, ofPlan = {}, note: onNote }: AgentsOptions,
): Promise<Pick<EngineOptions, 'model' | 'resolveModel' | 'abilities' | 'maxIterations'>> {
  const files = flags.files === undefined ? ofPlan.files : resolve(io.cwd, flags.files)
  const steps = flags['max-iterations']
  const maxIterations = steps === undefined ? ofPlan.maxIterations : wholeNumber('max-iterations', steps, 1)
  // The commands of a plan start in its folder.
  const servers =
    flags.mcp === undefined
      ? await mcpAbilities(io, ofPlan.mcp ?? [], ofPlan.folder ?? io.cwd)
      : await mcpAbilities(io, flags.mcp, io.cwd)
  const ofFiles = files === undefined ? [] : (await import('../../index.ts')).fileAbilities(files)
  const abilities = [...ofFiles, ...servers]
  if (defaultModel === undefined && named.models.length === 0) return { abilities, maxIterations }
  const chosen = new Map<string, Promise<LanguageModelLike>>()
  const resolveModel = (id: string): Promise<LanguageModelLike> => {
    const known = chosen.get(id)
    if (known !== undefined) return known
    const location = named.models.includes(id)
      ? { folder: named.folder }
      : { folder: io.cwd, anywhere: id === defaultModel }
    const choosing = chooseModel(id, io.env, location, { note: onNote ?? ((text) => note(io, text)) })
    chosen.set(id, choosing)
    choosing.catch(() => chosen.delete(id))
    return choosing
  }
  return { model: defaultModel, resolveModel, abilities, maxIterations }
}

/** As `agentsFor`, but resolves the default model at once, so that a missing key is reported first. */
export async function readyAgents(io: CommandIo, flags: AgentFlags, defaultModel: string | undefined) {
  const agents = await agentsFor(io, flags, { defaultModel })
  if (defaultModel !== undefined) await agents.resolveModel?.(defaultModel)
  return agents
}

/** The model of agents that name none: from the flag, else the plan, else the environment. */
export function defaultModelOf(io: CommandIo, flags: AgentFlags, ofPlan?: string): string | undefined {
  if (flags.model?.trim() === '') throw misuse('--model is empty. Give a model, like --model openai:gpt-5-mini.')
  return flags.model ?? ofPlan ?? (io.env['ERRAND_MODEL']?.trim() || undefined)
}

export const howToGiveModel =
  'Give one with --model, or in ERRAND_MODEL: openai:gpt-5-mini, ollama:llama3.2 or script:FILE, for example.'

/** @throws ErrandError NO_MODEL */
export function requireModel(io: CommandIo, flags: AgentFlags): string {
  const model = defaultModelOf(io, flags)
  if (model !== undefined) return model
  throw new ErrandError('NO_MODEL', `No model is configured. ${howToGiveModel}`, { variable: 'ERRAND_MODEL' })
}
