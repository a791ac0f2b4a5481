// The tools of a foreign MCP server as abilities, so that agents call them like any other: journaled, and in doubt after a crash.
import { z } from 'zod'
import { type Ability, defineAbility } from '../../bus/ability.ts'
import type { Bus } from '../../bus/bus.ts'
import type { JsonSchema } from '../../bus/json-schema.ts'
import { modelSchema } from '../../bus/model-schema.ts'
import { maxDelayMs } from '../../core/clock.ts'
import { Failure } from '../../core/errors.ts'
import { omitUndefined } from '../../core/omit-undefined.ts'
import { parse } from '../../core/parse.ts'
import { sha256 } from '../../core/sha256.ts'
import { startOf } from '../../core/storable-text.ts'

/** The used part of a client of `@modelcontextprotocol/client`, which is connected to a server. */
export interface McpClientLike {
  listTools(params?: { cursor?: string }): Promise<{ tools: unknown[]; nextCursor?: string | undefined }>
  callTool(params: { name: string; arguments?: Record<string, unknown> }, options?: object): Promise<unknown>
  // biome-ignore lint/suspicious/noExplicitAny: the client has overloads for its own and for other notifications
  setNotificationHandler?(method: any, handler: any): void
}

export interface McpToolsOptions {
  /** The module of the abilities: the tool `read_file` becomes `MODULE:read_file`. Letters, digits, `_` and `-`. */
  module: string
  /** Asks a person before each call of a tool. Default: before none. */
  confirm?: (tool: { name: string; destructive: boolean }) => boolean
}

/** The tools of an MCP server. */
export interface McpTools {
  /** For `createEngine({ abilities })`. */
  readonly abilities: Ability[]
  /**
   * From now on, and at once where the list has changed since it was read, registers tools that the server adds on the engine's bus, replaces those that it changes, and unregisters those that it removes.
   * Returns a function that stops it. The client must follow lists too: `new Client(info, { listChanged: … })` for servers of the current protocol.
   */
  follow(engine: { readonly bus: Bus }, onError?: (error: unknown) => void): () => void
}

const toolSchema = z.looseObject({
  name: z.string().min(1),
  description: z.string().nullish(),
  inputSchema: z.looseObject({}),
  annotations: z
    .looseObject({
      readOnlyHint: z.boolean().nullish(),
      destructiveHint: z.boolean().nullish(),
    })
    .nullish(),
})
type Tool = z.output<typeof toolSchema>

const resultSchema = z.looseObject({
  content: z.array(z.looseObject({ type: z.string(), text: z.string().optional() })).default([]),
  structuredContent: z.unknown().optional(),
  isError: z.boolean().optional(),
})

const optionsSchema = z.strictObject({
  module: z.string().regex(/^[A-Za-z0-9_-]{1,40}$/, 'expected a name of letters, digits, `_` and `-`'),
  confirm: z
    .custom<NonNullable<McpToolsOptions['confirm']>>(
      (value) => typeof value === 'function',
      'expected a function (tool) => boolean',
    )
    .optional(),
})

const listChanged = 'notifications/tools/list_changed'
/** A description may have as many characters. */
const maxDescription = 10_000

/**
 * Reads the tools of a server. A call that a crash interrupts is repeated if the tool only reads (`readOnlyHint`); else the model decides, as for
 * other abilities. A result is its text, its structured content, or the list of its parts;
 * images and the like are stored whole, and models read their type and size. A call has no time limit of its own.
 *
 * @example
 * const client = new Client({ name: 'app', version: '1' })
 * await client.connect(new StdioClientTransport({ command: 'npx', args: ['-y', 'some-server'] }))
 * const files = await mcpTools(client, { module: 'files' })
 * const engine = await createEngine({ model, abilities: files.abilities })
 * files.follow(engine)
 * @throws ErrandError INVALID_INPUT, UNKNOWN_OPTION; what the client throws.
 */
export async function mcpTools(client: McpClientLike, options: McpToolsOptions): Promise<McpTools> {
  const { module, confirm } = parse(optionsSchema, options, 'mcpTools')
  const abilityOf = (tool: Tool): Ability => toAbility(client, module, tool, confirm)
  const first = await listed(client)
  return {
    abilities: first.map(abilityOf),
    follow({ bus }, onError = () => {}) {
      const idsOf = (tools: readonly Tool[]): Map<string, Tool> =>
        new Map(tools.map((tool) => [idOf(module, tool.name), tool]))
      const registered = new Map(Array.from(idsOf(first), ([id, tool]) => [id, JSON.stringify(tool)]))
      // What the program has not registered stays left out.
      const leftOut = new Set([...registered.keys()].filter((id) => !bus.has(id)))
      for (const id of leftOut) registered.delete(id)
      let isOver = false
      const refresh = async (): Promise<void> => {
        const now = idsOf(await listed(client))
        if (isOver) return
        for (const [id, tool] of registered) {
          if (tool === JSON.stringify(now.get(id))) continue
          bus.unregister(id)
          registered.delete(id)
        }
        for (const [id, tool] of now) {
          if (bus.has(id) || leftOut.has(id)) continue
          bus.register(abilityOf(tool))
          registered.set(id, JSON.stringify(tool))
        }
      }
      // One after the other: an older list must not replace a newer one.
      let last = Promise.resolve()
      const again = () => {
        last = last.then(refresh).catch((error: unknown) => {
          if (!isOver) onError(error)
        })
        return last
      }
      const unfollow = followed(client, again)
      // The server may have changed its list since it was read first.
      void again()
      return () => {
        isOver = true
        unfollow()
      }
    },
  }
}

/** A client has one handler for the changes of its server, and may be used by several engines. */
const followers = new WeakMap<McpClientLike, Set<() => Promise<void>>>()

function followed(client: McpClientLike, refresh: () => Promise<void>): () => void {
  let all = followers.get(client)
  if (all === undefined) {
    const each = new Set<() => Promise<void>>()
    all = each
    followers.set(client, each)
    client.setNotificationHandler?.(listChanged, () => Promise.all([...each].map((one) => one())))
  }
  all.add(refresh)
  return () => void all.delete(refresh)
}

async function listed(client: McpClientLike): Promise<Tool[]> {
  const tools: Tool[] = []
  for (let cursor: string | undefined; ; ) {
    const page = await client.listTools(cursor === undefined ? undefined : { cursor })
    for (const tool of page.tools) tools.push(parse(toolSchema, tool, 'A tool of the MCP server'))
    cursor = page.nextCursor
    if (!cursor) return tools
  }
}

/** Names of tools may have other characters; two names that differ in these alone get different ids. */
function idOf(module: string, name: string): string {
  const plain = name.replaceAll(/[^A-Za-z0-9_-]/g, '_')
  const isSame = plain === name && name.length <= 50
  return `${module}:${isSame ? name : `${startOf(plain, 40)}_${startOf(sha256(name), 8)}`}`
}

function toAbility(client: McpClientLike, module: string, tool: Tool, confirm: McpToolsOptions['confirm']): Ability {
  const { name, annotations } = tool
  const { readOnlyHint, destructiveHint } = annotations ?? {}
  return defineAbility({
    id: idOf(module, name),
    description: startOf(tool.description?.trim() || `The tool ${name}.`, maxDescription),
    input: usableSchema(tool.inputSchema),
    output: z.unknown(),
    confirm: confirm?.({ name, destructive: destructiveHint !== false && readOnlyHint !== true }) ?? false,
    ...omitUndefined({ onInterrupt: readOnlyHint === true ? ('rerun' as const) : undefined }),
    handle: async (input, { signal }) => {
      // The client would give up after a minute, while the tool goes on.
      const limits = { signal, timeout: maxDelayMs }
      return resultOf(name, await client.callTool({ name, arguments: input as Record<string, unknown> }, limits))
    },
  }) as unknown as Ability
}

/** As models get it. The server checks the arguments in any case, so a schema that cannot be converted is no reason to leave the tool out. */
function usableSchema(schema: Tool['inputSchema']): JsonSchema {
  const plain = modelSchema(schema)
  try {
    z.fromJSONSchema(plain as never)
    return plain
  } catch {
    return { type: 'object', description: `The arguments fit this JSON Schema: ${JSON.stringify(schema)}` }
  }
}

/** A result of another shape is kept as it is, because the call has been made. @throws Failure TOOL_FAILED for a result that is an error */
function resultOf(name: string, given: unknown): unknown {
  const parsed = resultSchema.safeParse(given)
  if (!parsed.success) return given
  const { content, structuredContent, isError } = parsed.data
  const isText = content.every(({ type }) => type === 'text')
  const text = content.map((part) => part.text ?? `[${part.type}]`).join('\n')
  if (isError) throw new Failure(text === '' ? `${name} failed` : text, { code: 'TOOL_FAILED', retry: false })
  if (structuredContent === undefined) return isText ? text : content
  return isText ? structuredContent : { structuredContent, content }
}
