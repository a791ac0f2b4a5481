// What a model is offered: the abilities that its task may call, under names that models allow, and two tools of the
// agent itself.
import { z } from 'zod'
import type { Ability } from '../../bus/ability.ts'
import type { Caller } from '../../bus/caller.ts'
import type { JsonSchema } from '../../bus/json-schema.ts'
import { briefSchema, modelSchema } from '../../bus/model-schema.ts'
import { isOwnAbility } from '../../bus/own-abilities.ts'
import { type ToolDefinition, toolTable } from '../../bus/tool-names.ts'
import { durationSchema } from '../../core/duration-schema.ts'
import { once } from '../../core/once.ts'
import type { ParsedAgentOptions } from '../../entities/options.ts'
import type { AgentRun } from '../../operations/agent-run.ts'

export const askUser = 'ask_user'
export const waitForTasks = 'wait_for_tasks'
/** An ability for other callers; a model that calls it waits as with its own tool. */
const waitAbility = 'task:wait'

export const askUserSchema = once(() =>
  z.strictObject({
    question: z.string().trim().min(1).describe('The complete question.'),
    options: z.array(z.string()).min(1).optional().describe('The answers to choose from, if no other is accepted.'),
  }),
)

export const waitForTasksSchema = once(() =>
  z.strictObject({
    taskIds: z
      .array(z.string().min(1))
      .min(1)
      .optional()
      .describe('Ids of subtasks. Default: all subtasks of this task.'),
    mode: z.enum(['all', 'any']).default('all').describe('Wait for all of them (default), or for the first one.'),
    timeoutMs: durationSchema({ min: 1 }).optional().describe('Time-out in milliseconds. Default: none.'),
  }),
)

/**
 * Of the engine's own abilities, those that an agent is offered unless it or its task names abilities. With the tools of the agent itself they have
 * at most 12 kB of definitions in every situation: more overflows the default context of Ollama.
 */
const offeredAbilities = {
  always: ['task:cancel', 'task:create', 'task:get', 'task:list', 'task:messages', 'task:retry', 'task:send'],
  inTeam: ['mem:observe', 'mem:retrieve', 'objective:update', 'task:context'],
  ofClaimed: ['board:inbox', 'board:list', 'board:send'],
}

/** What a tool name of a model resolves to. */
export type Tool =
  | { kind: 'ask_user' }
  | { kind: 'wait_for_tasks' }
  | { kind: 'ability'; id: string; ability: Ability | undefined }

/** What one step of a model is offered. */
export interface Offer {
  readonly definitions: ToolDefinition[]
  /** The id under which a tool is recorded; the name itself when it is unknown. */
  abilityOf(toolName: string): string
}

export interface Toolbox {
  /** The caller of the model's calls. */
  readonly caller: Caller
  /** From the abilities registered now. Names may differ in the next step: each step has an offer of its own. */
  offer(): Offer
  tool(abilityId: string): Tool
}

/** `abilities` and `bounds` are the agent's own. */
export async function toolbox(
  agentRun: AgentRun,
  { abilities: list, bounds }: Pick<ParsedAgentOptions, 'abilities' | 'bounds'>,
): Promise<Toolbox> {
  const { bus } = agentRun
  const lists = [...(agentRun.caller.abilities ?? []), ...(list === undefined ? [] : [list])]
  const caller: Caller = {
    ...agentRun.caller,
    surface: 'model',
    ...(lists.length === 0 ? {} : { abilities: lists }),
    ...(bounds === undefined ? {} : { bounds }),
  }
  const reserved = [askUser, waitForTasks]
  const few = lists.length > 0 ? undefined : await fewAbilities(agentRun)
  return {
    caller,
    offer() {
      const own = bus.toolsFor(caller, reserved)
      const offered = own.definitions.flatMap((definition) => {
        const id = own.abilityOf(definition.function.name) as string
        const ability = bus.get(id)
        if (ability === undefined || !isOwnAbility(ability)) return [definition]
        return id !== waitAbility && few?.has(id) !== false ? [briefly(definition)] : []
      })
      // Abilities that the model may not call are named too, so that the model receives a refusal instead of "unknown
      // tool".
      const all = (name: string) => toolTable(bus.abilities(), reserved).abilityOf(name)
      return {
        definitions: [...builtIns(), ...offered],
        abilityOf: (name) => (reserved.includes(name) ? name : (own.abilityOf(name) ?? all(name) ?? name)),
      }
    },
    tool(id) {
      if (id === askUser) return { kind: 'ask_user' }
      if (id === waitForTasks || id === waitAbility) return { kind: 'wait_for_tasks' }
      return { kind: 'ability', id, ability: bus.get(id) }
    },
  }
}

async function fewAbilities({ policy, isClaimed }: AgentRun): Promise<ReadonlySet<string>> {
  const { always, inTeam, ofClaimed } = offeredAbilities
  return new Set([...always, ...(policy.team === undefined ? [] : inTeam), ...((await isClaimed()) ? ofClaimed : [])])
}

function briefly({ type, function: { name, description, parameters } }: ToolDefinition): ToolDefinition {
  return { type, function: { name, description, parameters: briefSchema(parameters) } }
}

function builtIn(name: string, description: string, schema: z.ZodType): ToolDefinition {
  const parameters = briefSchema(modelSchema(z.toJSONSchema(schema, { io: 'input' }) as JsonSchema))
  return { type: 'function', function: { name, description, parameters } }
}

const builtIns = once((): readonly ToolDefinition[] => [
  builtIn(
    askUser,
    'Asks the user a question and waits for the answer. Use it only if you cannot continue without the answer.',
    askUserSchema(),
  ),
  builtIn(waitForTasks, 'Waits until subtasks have ended, and returns their outcomes.', waitForTasksSchema()),
])
