// What single servers send, as public reports of them record it: one entry each, with what must come of it. The next quirk is one more entry.

export interface Quirk {
  title: string
  status?: number
  headers?: Record<string, string>
  /** As it is sent: the events of a stream, or the body of an error. */
  body: string
  answer?: { content?: string; calls?: Array<[name: string, args: string]>; finish?: string }
  failure?: { code: string; retry: boolean; message: RegExp; retryAfterMs?: number }
}

const event = (value: unknown): string => `data: ${typeof value === 'string' ? value : JSON.stringify(value)}\n\n`
const chunk = (delta: object | null, finish: string | null = null, more: object = {}) =>
  event({
    id: 'c',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'm',
    choices: delta === null ? [] : [{ index: 0, delta, finish_reason: finish }],
    ...more,
  })
const call = (id: string | undefined, name: string | undefined, args: string, index: number | undefined = 0) => ({
  tool_calls: [
    {
      ...(index === undefined ? {} : { index }),
      ...(id === undefined ? {} : { id }),
      type: 'function',
      function: { ...(name === undefined ? {} : { name }), arguments: args },
    },
  ],
})
const stop = chunk({}, 'stop')
const calls = chunk({}, 'tool_calls')
const done = event('[DONE]')
const json = { 'content-type': 'application/json' }
const error = (message: string, more: object = {}) => JSON.stringify({ error: { message, ...more } })

export const quirks: readonly Quirk[] = [
  {
    title: 'finish reason stop with tool calls (OpenRouter, vLLM)',
    body: chunk(call('a', 'look', '{}')) + stop + done,
    answer: { calls: [['look', '{}']], finish: 'stop' },
  },
  {
    title: 'the arguments of a call as an empty text',
    body: chunk(call('a', 'look', '')) + calls + done,
    answer: { calls: [['look', '{}']] },
  },
  {
    title: 'an id that is empty in the later deltas of a call',
    body: chunk(call('a', 'look', '{"x":')) + chunk(call('', undefined, '1}')) + calls + done,
    answer: { calls: [['look', '{"x":1}']] },
  },
  {
    title: 'two calls with one id (llama.cpp)',
    body: chunk(call('a', 'look', '{}', 0)) + chunk(call('a', 'see', '{}', 1)) + calls + done,
    answer: {
      calls: [
        ['look', '{}'],
        ['see', '{}'],
      ],
    },
  },
  {
    title: 'no [DONE] at the end',
    body: chunk({ content: 'Hi' }) + stop,
    answer: { content: 'Hi' },
  },
  {
    title: 'usage in a last chunk without choices',
    body:
      chunk({ content: 'Hi' }) +
      stop +
      chunk(null, null, { usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 } }) +
      done,
    answer: { content: 'Hi' },
  },
  {
    title: 'usage that is null in each chunk',
    body: chunk({ content: 'Hi' }, null, { usage: null }) + chunk({}, 'stop', { usage: null }) + done,
    answer: { content: 'Hi' },
  },
  {
    title: 'comments that keep the connection alive (OpenRouter)',
    body: `: OPENROUTER PROCESSING\n\n${chunk({ content: 'Hi' })}: OPENROUTER PROCESSING\n\n${stop}${done}`,
    answer: { content: 'Hi' },
  },
  {
    title: 'lines that end with CR and LF',
    body: (chunk({ content: 'Hi' }) + stop + done).replaceAll('\n', '\r\n'),
    answer: { content: 'Hi' },
  },
  {
    title: 'no blank after data:',
    body: (chunk({ content: 'Hi' }) + stop + done).replaceAll('data: ', 'data:'),
    answer: { content: 'Hi' },
  },
  {
    title: 'an emoji that is split over two deltas',
    body: chunk({ content: '\ud83d' }) + chunk({ content: '\ude00' }) + stop + done,
    answer: { content: '\u{1f600}' },
  },
  {
    title: 'reasoning in a field called reasoning (vLLM, OpenRouter)',
    body: chunk({ reasoning: 'Hm.' }) + chunk({ content: 'Hi' }) + stop + done,
    answer: { content: 'Hi' },
  },
  {
    title: 'a finish reason that is not known',
    body: chunk({ content: 'Hi' }) + chunk({}, 'eos') + done,
    answer: { content: 'Hi', finish: 'other' },
  },
  {
    title: 'a stream without a finish reason',
    body: chunk({ content: 'Half' }),
    failure: { code: 'protocol', retry: true, message: /without a finish reason/ },
  },
  {
    title: 'an error in the middle of a stream (OpenRouter)',
    body: chunk({ content: 'Half' }) + event({ error: { message: 'Provider returned error', code: 502 } }),
    failure: { code: 'upstream', retry: true, message: /Provider returned error/ },
  },
  {
    title: 'an overload in the middle of a stream',
    body: event({ error: { message: 'Overloaded', type: 'overloaded_error' } }),
    failure: { code: 'upstream', retry: true, message: /Overloaded/ },
  },
  {
    title: 'a rate limit with milliseconds to wait',
    status: 429,
    headers: { ...json, 'retry-after-ms': '1500' },
    body: error('Slow down'),
    failure: { code: 'rate_limited', retry: true, message: /Slow down/, retryAfterMs: 1_500 },
  },
  {
    title: 'a quota that is used up (OpenAI)',
    status: 429,
    headers: json,
    body: error('You exceeded your current quota', { type: 'insufficient_quota', code: 'insufficient_quota' }),
    failure: { code: 'rate_limited', retry: false, message: /exceeded your current quota/ },
  },
  {
    title: 'a page of a proxy with status 503',
    status: 503,
    headers: { 'content-type': 'text/html' },
    body: '<html><body>Service Unavailable</body></html>',
    failure: { code: 'upstream', retry: true, message: /HTTP 503/ },
  },
  {
    title: 'a refused key',
    status: 401,
    headers: json,
    body: error('Incorrect API key provided: sk-abcdefghijk'),
    failure: { code: 'auth', retry: false, message: /^(?!.*sk-abc).*refused the credentials/ },
  },
  {
    title: 'an overflow of the context (OpenAI)',
    status: 400,
    headers: json,
    body: error("This model's maximum context length is 5 tokens.", { code: 'context_length_exceeded' }),
    failure: { code: 'context_overflow', retry: false, message: /too long for the model/ },
  },
  {
    title: 'an overflow of the context (llama.cpp)',
    status: 400,
    headers: json,
    body: error('the request exceeds the available context size', { type: 'exceed_context_size_error' }),
    failure: { code: 'context_overflow', retry: false, message: /too long for the model/ },
  },
  {
    title: 'a body that is a list (Gemini)',
    status: 400,
    headers: json,
    body: `[${error('The input token count (9) exceeds the maximum number of tokens allowed (5).')}]`,
    failure: { code: 'context_overflow', retry: false, message: /input token count/ },
  },
  {
    title: 'an error that is a text (LM Studio)',
    status: 400,
    headers: json,
    body: '{"error":"Model is not loaded"}',
    failure: { code: 'protocol', retry: false, message: /Model is not loaded/ },
  },
  {
    title: 'an error in the field detail (FastAPI)',
    status: 422,
    headers: json,
    body: '{"detail":"tools: Input should be a valid list"}',
    failure: { code: 'protocol', retry: false, message: /tools: Input should be a valid list/ },
  },
  {
    title: 'a part that does not fit the protocol',
    body: event({
      id: 'c',
      object: 'chat.completion.chunk',
      created: 1,
      model: 'm',
      choices: [{ index: 0, delta: { content: 7 }, finish_reason: null }],
    }),
    failure: { code: 'protocol', retry: false, message: /not the protocol: .*"content":7/ },
  },
]
