// The parts of inputs and outputs that name positions of the feed.
import { z } from 'zod'

export const positionSchema = z.int().min(0)
