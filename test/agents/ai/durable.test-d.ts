// `durable` keeps the type of its argument: the real SDK's models and tools are assignable without a cast. Checked by
// plain tsc: this file is never run.
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import type { LanguageModelV3, LanguageModelV4 } from '@ai-sdk/provider'
import { generateText, type LanguageModel, streamText, type ToolSet, tool, wrapLanguageModel } from 'ai'
import { MockLanguageModelV4 } from 'ai/test'
import { expectTypeOf } from 'vitest'
import { z } from 'zod'
import { durable } from '../../../src/agents/ai/durable.ts'
import type { Run } from '../../../src/entities/executor.ts'

declare const run: Run
declare const v3: LanguageModelV3
declare const v4: LanguageModelV4
declare const set: ToolSet

expectTypeOf(durable(run, v3)).toEqualTypeOf<LanguageModelV3>()
expectTypeOf(durable(run, v4, { key: 'chat', onInterrupt: 'fail' })).toEqualTypeOf<LanguageModelV4>()
expectTypeOf(durable(run, v4)).toExtend<LanguageModel>()
expectTypeOf(durable(run, new MockLanguageModelV4())).toEqualTypeOf<MockLanguageModelV4>()
expectTypeOf(durable(run, wrapLanguageModel({ model: v4, middleware: {} }))).toEqualTypeOf<LanguageModelV4>()
expectTypeOf(durable(run, set)).toEqualTypeOf<ToolSet>()

const weather = tool({
  inputSchema: z.object({ city: z.string() }),
  execute: async ({ city }) => ({ city, degrees: 20 }),
})
const ask = tool({ inputSchema: z.object({ question: z.string() }), outputSchema: z.string() })
const tools = { weather, ask }
expectTypeOf(durable(run, tools, { perTool: { weather: { onInterrupt: 'ask' } } })).toEqualTypeOf<typeof tools>()

const provider = createOpenAICompatible({ name: 'local', baseURL: 'http://127.0.0.1/v1' })
const result = await generateText({
  model: durable(run, provider('local-1')),
  tools: durable(run, tools),
  prompt: 'Hello?',
})
const [found] = result.toolResults
if (found?.toolName === 'weather' && !found.dynamic)
  expectTypeOf(found.output).toEqualTypeOf<{ city: string; degrees: number }>()
streamText({ model: durable(run, v3), tools: durable(run, set), prompt: 'Hello?' })

// @ts-expect-error: a name is not resolved here.
durable(run, 'openai/gpt-5')
// @ts-expect-error: models of the second specification are refused.
durable(run, { specificationVersion: 'v2', provider: 'x', modelId: 'y', doGenerate() {}, doStream() {} })
// @ts-expect-error: a key is for models; a tool call has an id.
durable(run, tools, { key: 'x' })
// @ts-expect-error: there is no such tool.
durable(run, tools, { perTool: { wether: { onInterrupt: 'ask' } } })
// @ts-expect-error: there is no such policy.
durable(run, v4, { onInterrupt: 'again' })
