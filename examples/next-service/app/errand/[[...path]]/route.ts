// All routes of the engine and its page, for clients with the token: GET /errand/tasks, POST /errand/tasks, …
import { service } from '../../../lib/engine.ts'

async function answer(request: Request): Promise<Response> {
  const { http } = await service()
  return await http.fetch(request)
}

export { answer as DELETE, answer as GET, answer as PATCH, answer as POST, answer as PUT }
