// One engine as a server of the protocol: its abilities are the tools, whatever they are at the moment, and every call of a tool
// is an invocation of the bus by a caller that may call these abilities and no others.
import type { Server, ServerContext, Tool } from '@modelcontextprotocol/server'
import { createBoardSession } from '../../board/board-session.ts'
import type { Ability } from '../../bus/ability.ts'
import type { Caller } from '../../bus/caller.ts'
import { packageVersion } from '../../core/package-version.ts'
import { listAllows } from '../../entities/ability-pattern.ts'
import { callerOf, type Principal } from '../../web/principal.ts'
import { AgentSessions } from './agent-sessions.ts'
import type { Sdk } from './load-sdk.ts'
import type { AgentSession, CheckedMcpOptions, ServedEngine } from './mcp-options.ts'
import { boardWait, type Patience, taskWait, telling, waitForAWhile, waitForWork } from './progress.ts'
import { handleInsteadOf, type Invoke, serveTasks, tasksExtension } from './tasks-extension.ts'
import { answerResult, errorResult, type ToolResult } from './tool-results.ts'

/** Who is at the other end of a connection, and what can be sent there. */
export interface Peer {
  agent: string | undefined
  /** As the check of credentials knows it; absent where there is no check, as over standard input. */
  principal?: Principal
  /** Under what name its sessions are counted; absent where there is one client. */
  limitKeyOf?: string
  /** Of the protocol: `modern` speaks extensions. */
  era: 'legacy' | 'modern'
  /** Whether it can be told later that the tools have changed. */
  reachable: boolean
  /** Aborts when it has closed its end, and hears only what can be said now. */
  leaving?: AbortSignal
}

const surfaceName = 'mcp'

const instructions =
  'Tasks are durable: they go on when you are gone, and are found again by their id. task_create sets work going and answers at ' +
  'once; task_wait waits for a while and says how things stand, so call it again; task_get shows what a task came to or asks.'

/** The server's side of all connections that one engine serves. */
export class McpService {
  readonly sessions: AgentSessions
  readonly #engine: ServedEngine
  readonly #options: CheckedMcpOptions
  readonly #version = packageVersion()

  constructor(engine: ServedEngine, options: CheckedMcpOptions & { sessionIdleMs?: number }) {
    const { clock, session, onError, sessionIdleMs } = options
    this.#engine = engine
    this.#options = options
    const { bus } = engine
    // A named agent is a member of the team: what it claims is kept alive for it.
    const openFor = session ?? ((as) => createBoardSession({ bus, as, surface: surfaceName, clock }))
    // One that gives no name may claim in any, and gives its own signs of life.
    const nameless: AgentSession = { call: (id, input, options) => bus.call(id, input, options), close: () => {} }
    this.sessions = new AgentSessions({
      open: (agent) => (agent === undefined ? nameless : openFor(agent, engine)),
      idleMs: sessionIdleMs,
      clock,
      report: onError,
    })
  }

  /** Tells of every change of the tools that is known of; returns how to stop. */
  onToolsChanged(listener: () => void): () => void {
    return this.#engine.bus.onRegister((ability) => {
      if (this.#offers(ability)) listener()
    })
  }

  /** A server for one connection, or for one request where the transport has no connections. */
  createServer(sdk: Sdk, peer: Peer): Server {
    const speaksTasks = peer.era === 'modern' && this.#offersTasks()
    const server = new sdk.Server(
      { name: 'errand', version: this.#version },
      {
        instructions,
        capabilities: {
          tools: { listChanged: peer.reachable },
          ...(speaksTasks ? { extensions: { [tasksExtension]: {} } } : {}),
        },
        debouncedNotificationMethods: ['notifications/tools/list_changed'],
      },
    )
    server.onerror = this.#options.onError
    server.setRequestHandler('tools/list', () => ({ tools: this.#tools(peer) }))
    server.setRequestHandler('tools/call', async ({ params: { name, arguments: input = {} } }, context) => {
      const ability = this.#abilityOf(name, peer)
      if (ability === undefined) {
        throw new sdk.ProtocolError(sdk.ProtocolErrorCode.InvalidParams, `Tool ${name} not found`)
      }
      const result = await this.#call(ability, name, input, peer, context)
      if (result['resultType'] === 'task' || result.isError) return result
      return server.projectCallToolResult(result as never, ability.outputSchema)
    })
    if (speaksTasks) serveTasks(sdk, server, (context) => this.#invoke(peer, context))
    return server
  }

  #tools(peer: Peer): Tool[] {
    const { bus } = this.#engine
    const table = bus.toolsFor(this.#caller(peer))
    return table.definitions.flatMap(({ function: { name, description, parameters } }) => {
      const ability = bus.get(table.abilityOf(name) as string)
      if (ability === undefined || !this.#offers(ability)) return []
      const { $schema: _dialect, ...outputSchema } = ability.outputSchema
      return [{ name, description, inputSchema: parameters as Tool['inputSchema'], outputSchema }]
    })
  }

  #abilityOf(toolName: string, peer: Peer): Ability | undefined {
    const id = this.#engine.bus.toolsFor(this.#caller(peer)).abilityOf(toolName)
    const ability = id === undefined ? undefined : this.#engine.bus.get(id)
    return ability !== undefined && this.#offers(ability) ? ability : undefined
  }

  /** Here nobody can be asked before a model's call: what wants a person's consent is not offered. */
  #offers({ id, confirm, models, isStream }: Ability): boolean {
    return models && !isStream && confirm === false && listAllows(this.#options.abilities, id)
  }

  #offersTasks(): boolean {
    return ['task:create', 'task:get', 'task:list'].every((id) => listAllows(this.#options.abilities, id))
  }

  async #call(
    { id }: Ability,
    toolName: string,
    input: Record<string, unknown>,
    peer: Peer,
    context: ServerContext,
  ): Promise<ToolResult> {
    const { maxWaitMs, progressEveryMs, clock } = this.#options
    const invoke = this.#invoke(peer, context)
    const patience: Patience = {
      maxMs: maxWaitMs,
      leaving: peer.leaving,
      wait: (bounded, leaving) => this.#invoke(peer, context, leaving)(id, bounded),
    }
    const work = async (): Promise<ToolResult> => {
      if (id === taskWait) return waitForAWhile(this.#engine, input, patience)
      if (id === boardWait) return waitForWork(input, patience)
      const answer = await invoke(id, input)
      return (await handleInsteadOf(id, answer, context, invoke)) ?? answerResult(answer)
    }
    try {
      return await telling(work(), progressEveryMs, clock, this.#teller(toolName, context))
    } catch (error) {
      return errorResult(error)
    }
  }

  #invoke(peer: Peer, { mcpReq }: ServerContext, leaving?: AbortSignal): Invoke {
    const who = { agent: peer.agent, principal: peer.limitKeyOf }
    const caller = this.#caller(peer)
    const signal = leaving === undefined ? mcpReq.signal : AbortSignal.any([mcpReq.signal, leaving])
    return (abilityId, input) => this.sessions.call(who, abilityId, input, { caller, signal })
  }

  #caller({ agent, principal }: Peer): Caller {
    const { abilities, bounds } = this.#options
    const known: Caller = principal === undefined ? { surface: surfaceName } : callerOf(principal, surfaceName)
    // The name that a client gives itself is no credential: it counts where whoever calls may do everything anyway.
    const owner = known.owner ?? (known.scopes?.includes('admin') === false ? undefined : agent)
    return {
      ...known,
      model: true,
      abilities: [abilities, ...(known.abilities ?? [])],
      ...(bounds === undefined ? {} : { bounds }),
      ...(owner === undefined ? {} : { owner }),
    }
  }

  /** Only a client that gave a token wants to hear how long it takes. */
  #teller(toolName: string, { mcpReq }: ServerContext): (elapsedMs: number) => void {
    const progressToken = mcpReq._meta?.progressToken
    if (progressToken === undefined) return () => {}
    return (elapsedMs) => {
      const seconds = Math.round(elapsedMs / 1000)
      const params = { progressToken, progress: seconds, message: `${toolName}: ${seconds} s` }
      mcpReq.notify({ method: 'notifications/progress', params }).catch(this.#options.onError)
    }
  }
}
