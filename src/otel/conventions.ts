// The names of attributes. Those of `gen_ai` are from the GenAI semantic conventions of OpenTelemetry 0.1.0, which still change, so they stand
// here and are not imported.
export const names = {
  operation: 'gen_ai.operation.name',
  agent: 'gen_ai.agent.name',
  conversation: 'gen_ai.conversation.id',
  toolName: 'gen_ai.tool.name',
  toolType: 'gen_ai.tool.type',
  toolCallId: 'gen_ai.tool.call.id',
  toolArguments: 'gen_ai.tool.call.arguments',
  toolResult: 'gen_ai.tool.call.result',
  provider: 'gen_ai.provider.name',
  requestModel: 'gen_ai.request.model',
  responseModel: 'gen_ai.response.model',
  finishReasons: 'gen_ai.response.finish_reasons',
  inputTokens: 'gen_ai.usage.input_tokens',
  outputTokens: 'gen_ai.usage.output_tokens',
  inputMessages: 'gen_ai.input.messages',
  outputMessages: 'gen_ai.output.messages',
  errorType: 'error.type',
  taskId: 'errand.task.id',
  attempt: 'errand.attempt',
  run: 'errand.run',
  outcome: 'errand.run.outcome',
  callId: 'errand.call.id',
} as const

/** Providers of the AI SDK that the conventions name otherwise. */
const providers: Readonly<Record<string, string>> = {
  google: 'gcp.gemini',
  'google-vertex': 'gcp.vertex_ai',
  vertex: 'gcp.vertex_ai',
  'amazon-bedrock': 'aws.bedrock',
  azure: 'azure.ai.openai',
  mistral: 'mistral_ai',
  xai: 'x_ai',
}

/** `openai` of `openai.responses`, as the conventions name it. */
export function providerName(given: string): string {
  const [provider = given] = given.split('.')
  return providers[provider] ?? provider
}
