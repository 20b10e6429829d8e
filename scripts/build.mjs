// `npm run build`: dist from src.
import { build } from "./fresh.mjs";

build();
